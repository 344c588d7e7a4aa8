"""A scene packed for the page: what is in it, what is refused, and that pages are written whole."""

import json
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.project.page.page import live_files, write_page
from malmoi.project.page.sections import PackedScene, pack, score_digits
from malmoi.project.scene import Field, Int8Vectors, Near, Scene, Space
from tests.web.scenes import scene_of

LABELS = Field("kind", "label", np.array([0, 5], np.int32), ("a", "b"))


def unpacked(packed: PackedScene, name: str) -> Any:
    """A section as the page reads it."""
    told = packed.description["spaces"][0]["sections"][name]
    raw = zlib.decompress(packed.sections[0, name])
    assert len(raw) == told["bytes"]
    if told["type"] == "json":
        return json.loads(raw)
    return np.frombuffer(raw, dtype=told["type"]).reshape(told["shape"])


def small(**changes: Any) -> Scene:
    """Two points with neighbours."""
    near = Near(np.array([[1], [0]], np.uint32), np.array([[0.5], [0.5]], np.float32))
    solid = np.array([[0, 1, 2], [3, 4, 5]], np.float32)
    space = Space("m", ["하나", "둘"], solid[:, :2], solid, "PCA", 1.0, {"cosine": near})
    return Scene("T", (replace(space, **changes),))


def test_places_are_kept_to_a_step() -> None:
    chance = np.random.default_rng(0)
    plane = (chance.normal(size=(500, 2)) * [3, 0.01] + [100, 0]).astype(np.float32)
    solid = np.zeros((500, 3), np.float32)
    keys = [str(i) for i in range(500)]
    packed = pack(Scene("T", (Space("m", keys, plane, solid, "PCA", 1.0, {}),)))
    told = packed.description["spaces"][0]["sections"]["coords_2d"]
    found = np.array(told["low"]) + unpacked(packed, "coords_2d") * np.array(told["step"])
    assert np.abs(found - plane).max() <= 0.51 * max(told["step"])
    assert not unpacked(packed, "coords_3d").any()  # all in one place


def test_numbers_stay_as_they_are() -> None:
    for values in ([1_700_000_001, 0.1], [2007, 0.5], [np.nan, 16_777_217]):
        packed = pack(small(fields=(Field("n", "number", np.array(values, np.float64)),)))
        np.testing.assert_array_equal(unpacked(packed, "field-0"), values)


def test_keys_and_lines_stay_as_they_are() -> None:
    keys = ["</script>", '"\\\n\u2028']
    packed = pack(small(keys=keys, details=["\udcff", ""]))
    assert unpacked(packed, "keys") == keys
    assert unpacked(packed, "details") == ["\\xff", ""]


@given(st.lists(st.floats(-300, 300, width=32), min_size=1, max_size=20))
def test_scores_are_kept_to_the_digits_said(scores: list[float]) -> None:
    row = np.sort(np.array([scores, scores], np.float32))[:, ::-1]
    near = Near(np.zeros(row.shape, np.uint32), row)
    packed = pack(small(near={"cosine": near}))
    digits = packed.description["spaces"][0]["sections"]["cosine-scores"]["digits"]
    found = np.cumsum(unpacked(packed, "cosine-scores"), axis=1) / 10.0**digits
    assert np.abs(found - row).max() <= 0.5001 * 10.0**-digits


@pytest.mark.parametrize(("most", "digits"), [(0.99, 4), (9.5, 4), (12.5, 3), (123.0, 2), (1e7, 0)])
def test_large_scores_have_fewer_digits(most: float, digits: int) -> None:
    assert score_digits(np.array([[most]], np.float32)) == digits


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"keys": []}, "no points"),
        ({"keys": ["a"]}, r"coordinates of shape \(2, 2\) for 1 keys"),
        ({"coords_2d": np.full((2, 2), np.nan, np.float32)}, "not finite"),
        ({"details": ["x"]}, "1 details for 2 points"),
        (
            {"coarse": Int8Vectors(np.zeros((3, 4), np.int8), np.ones(3, np.float32))},
            "3 coarse vectors",
        ),
        ({"fields": (LABELS,)}, "kind has no label 5"),
        (
            {
                "near": {
                    "cosine": Near(np.array([[1], [2]], np.uint32), np.ones((2, 1), np.float32))
                }
            },
            "row 2, which does not exist",
        ),
        (
            {
                "near": {
                    "dot": Near(np.zeros((2, 1), np.uint32), np.full((2, 1), np.inf, np.float32))
                }
            },
            "dot scores are not finite",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        pack(small(**changes))


def test_vectors_that_are_not_drawn_may_be_neighbours() -> None:
    near = Near(np.array([[2], [0]], np.uint32), np.ones((2, 1), np.float32))
    packed = pack(small(near={"cosine": near}, others=["셋"]))
    assert unpacked(packed, "others") == ["셋"]


def test_a_page_of_three_models_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="not 3"):
        pack(Scene("T", small().spaces * 3))


def test_a_page_is_written_whole_and_its_size_told(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert write_page(scene_of(), path) == path.stat().st_size
    before = path.read_bytes()
    assert write_page(scene_of(), path) == len(before)
    assert path.read_bytes() == before  # the same scene, the same bytes
    with pytest.raises(InvalidArgumentError):
        write_page(small(keys=[]), path)
    with pytest.raises(InvalidFileError, match="there is no folder"):
        write_page(small(), tmp_path / "none" / "page.html")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_live_files_hold_the_same_sections_apart() -> None:
    files = live_files(scene_of())
    kind, page = files["index.html"]
    assert kind == "text/html; charset=utf-8"
    assert b"connect-src 'self'" in page
    assert b"section-0" not in page.partition(b'<script type="module">')[0]
    described = json.loads(files["scene.json"][1])
    for name, told in described["spaces"][0]["sections"].items():
        assert len(zlib.decompress(files[f"sections/0/{name}"][1])) == told["bytes"]
