"""Layers by number, by range, or all; whatever else is asked for is refused in one sentence."""

import pytest

from malmoi.encode.pooling.layers import Layers, choose_layers
from malmoi.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        (-2, (3,)),
        ([0, -1], (0, 4)),
        ("all", (0, 1, 2, 3, 4)),
        (" 0, 3 ", (0, 3)),
        ("-2:", (3, 4)),
        (" : 2", (0, 1)),
        ("1:-1", (1, 2, 3)),
        (":", (0, 1, 2, 3, 4)),
        ("3:99", (3, 4)),
    ],
)
def test_layers_are_numbered_from_zero(asked: Layers, chosen: tuple[int, ...]) -> None:
    assert choose_layers(asked, 5) == chosen


@pytest.mark.parametrize(
    "asked",
    ["", " ", ",", "1,", "a", "1:2:3", "- 1", "--1", "1.0", "0x1", "1_0", "½", 5, -6, [], "4:1",
     [0] * 6, 2**70, [2**70], "9" * 5000, "9" * 5000 + ":", ":-" + "9" * 5000],
)  # fmt: skip
def test_what_names_no_layer_is_refused(asked: Layers) -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        choose_layers(asked, 5)
    assert len(str(refused.value)) < 1100


@pytest.mark.parametrize(
    "asked", [" " * 1_000_000, " " * 500_000 + ":" + " " * 500_000 + "x", "1," * 500_000]
)
def test_long_layers_are_refused_in_linear_time(asked: str) -> None:
    with pytest.raises(InvalidArgumentError):  # a quadratic reading would take hours
        choose_layers(asked, 5)
