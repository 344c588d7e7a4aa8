from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.encode.pooling.groups import POOLS, WORD_POOLINGS, group_bounds, pool_groups
from malmoi.encode.pooling.layer_pooling import LAYER_POOLINGS, pool_layers
from malmoi.encode.pooling.layers import choose_layers
from malmoi.encode.pooling.recipes import RECIPES, Recipe, choose_recipe
from malmoi.errors import InvalidArgumentError
from malmoi.vectors import l2_normalize
from tests.encode.worlds import naive_mix, naive_pool


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        (-1, (6,)),
        (0, (0,)),
        ([-2, 1], (5, 1)),
        ("-2", (5,)),
        ("-4:", (3, 4, 5, 6)),
        (":2", (0, 1)),
        ("1:-1", (1, 2, 3, 4, 5)),
        ("0,3, 6", (0, 3, 6)),
        (np.int64(-2), (5,)),
        (np.array([0, -1]), (0, 6)),
        ("all", (0, 1, 2, 3, 4, 5, 6)),
    ],
)
def test_layers_by_number_range_or_all(asked: int | str | list[int], chosen: object) -> None:
    assert choose_layers(asked, 7) == chosen


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (7, "there is no layer 7: there are 7, from 0"),
        ("-8", "there is no layer -8"),
        ("5:2", "layers '5:2' selects none"),
        ("last", "'last' is not a choice of layers"),
        ([], "layers is empty"),
        (1.5, "1.5 is not a choice of layers"),
        ([0, 1.5], "is not a choice of layers"),
    ],
)
def test_layers_that_are_not_there(asked: int | str | list[int], said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        choose_layers(asked, 7)


@pytest.mark.parametrize("mix", LAYER_POOLINGS)
def test_mixing_is_that_of_the_slow_twin(mix: str) -> None:
    random = np.random.default_rng(1)
    count = 1 if mix == "single" else 4
    layers = [random.normal(size=(6, 3)).astype(np.float32) for _ in range(count)]
    weights = [0.5, -1.0, 2.0, 0.0][:count]
    found = pool_layers(layers, mix, weights=weights, scale=1.5)  # type: ignore[arg-type]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, naive_mix(layers, mix, weights, 1.5), atol=1e-6)


def test_mixing_leaves_the_layers_as_they_were() -> None:
    layers = [np.ones((2, 2), np.float32), np.ones((2, 2), np.float32)]
    pool_layers(layers, "sum")
    assert all((layer == 1).all() for layer in layers)


def test_mixing_what_cannot_be_mixed() -> None:
    layers = [np.ones((2, 2), np.float32)] * 2
    with pytest.raises(InvalidArgumentError, match="needs one layer, not 2"):
        pool_layers(layers, "single")
    with pytest.raises(InvalidArgumentError, match="1 weights for 2 layers"):
        pool_layers(layers, "weighted", weights=[1.0])


@pytest.mark.parametrize("how", sorted({*POOLS, *WORD_POOLINGS} - {"none"}))
@given(sizes=st.lists(st.integers(0, 4), max_size=6), seed=st.integers(0, 99))
def test_pooling_is_that_of_the_slow_twin(how: str, sizes: list[int], seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(sum(sizes), 3)).astype(np.float32)
    bounds = group_bounds(sizes)
    groups = [rows[a:b] for a, b in pairwise(bounds)]
    expected = np.array([naive_pool(group, how) for group in groups]).reshape(-1, 3)
    found = pool_groups(rows, bounds, how)  # type: ignore[arg-type]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_rows_of_zeros_have_no_direction_and_stay() -> None:
    rows = np.array([[3, 4], [0, 0]], np.float32)
    expected = np.array([[0.6, 0.8], [0, 0]], np.float32)
    np.testing.assert_allclose(l2_normalize(rows), expected, atol=1e-7)


def test_recipes_known_by_name() -> None:
    assert choose_recipe("bert-as-service") == Recipe(
        layers=-2, layer_pooling="single", pool="mean"
    )
    assert choose_recipe("last-four-sum", pool="cls") == Recipe(
        layers="-4:", layer_pooling="sum", pool="cls"
    )
    assert set(RECIPES) == {"bert-as-service", "last-four-sum", "last-four-concat"}
    assert choose_recipe(layers="all", layer_pooling="mean").layers == "all"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"layer_pooling": "stir"},
            "layer_pooling must be one of single, sum, mean, concat, weighted; got 'stir'",
        ),
        ({"pool": "swim"}, "got 'swim'"),
        (
            {"pool": "cls", "include_special_tokens": False},
            "pool='cls' is a special token",
        ),
        ({"weights": (1, 2)}, "weights and scale need layer_pooling='weighted', not 'single'"),
        (
            {"layer_pooling": "sum", "scale": 2},
            "weights and scale need layer_pooling='weighted', not 'sum'",
        ),
        ({"layer_pooling": "weighted", "weights": (1.0, float("nan"))}, "not finite"),
    ],
)
def test_recipes_that_make_no_sense(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        Recipe(**wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match=r"recipe must be one of .*; got 'soup'"):
        choose_recipe("soup")
