"""A scene of vectors, and of what can hardly be drawn."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import malmoi as mm
from malmoi.arrays import Float32Array
from malmoi.project.live_scene import make_live_scene
from malmoi.project.points.points import Points
from malmoi.project.points.text_points import text_points
from malmoi.project.points.word_points import word_points
from malmoi.project.scene import Field
from malmoi.project.scene_builder import ProjectionSettings, build_scene, quantize_rows

NUMBERS = np.random.default_rng(3).normal(size=(50, 6)).astype(np.float32)
WORDS = [f"w{i}" for i in range(50)]


def test_a_scene_holds_all_that_the_page_shows() -> None:
    (space,) = build_scene(mm.Vectors(WORDS, NUMBERS), title="words").spaces
    assert list(space.keys) == WORDS
    assert space.coords_2d.shape == (50, 2)
    assert space.coords_3d.shape == (50, 3)
    assert 0 < space.neighbour_preservation < 1
    assert space.coarse is not None


def test_a_live_scene_is_the_same_picture_without_what_a_server_answers() -> None:
    points = Points("words", mm.Vectors(WORDS, NUMBERS))
    (whole,) = build_scene(points, settings=ProjectionSettings(method="pca")).spaces
    live = make_live_scene(points)
    (space,) = live.scene.spaces
    assert live.method == "tsne"  # is still to be computed
    np.testing.assert_array_equal(space.coords_2d, whole.coords_2d)
    np.testing.assert_array_equal(space.coords_3d, whole.coords_3d)
    assert space.neighbour_preservation == whole.neighbour_preservation
    assert [field.name for field in space.fields] == ["cluster"]
    np.testing.assert_array_equal(space.fields[0].values, whole.fields[0].values)
    assert (space.near, space.coarse) == ({}, None)


@pytest.mark.parametrize(
    ("words", "labels", "first"),
    [
        (["a", "b", "c", "d", "9"], None, "cluster"),
        (["a", "b", "c", "d", "한국"], None, "script"),
        (["a", "b", "c", "d", "한국"], "a\tx\nb\ty\n", "label"),
        (["나무", "바다", "사랑", "하늘", "한국"], None, "cluster"),
    ],
)
def test_a_page_of_words_begins_with_what_tells_most(
    words: list[str], labels: str | None, first: str, tmp_path: Path
) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text(labels or "")
    points = word_points(mm.Vectors(words, NUMBERS[:5]), "words", labels=path if labels else None)
    (space,) = build_scene(points).spaces
    assert space.fields[0].name == first
    assert {field.name for field in space.fields} >= {first, "cluster", "frequency rank"}


SIDES = np.repeat([[3.0, 0, 0, 0, 0, 0], [0, 3, 0, 0, 0, 0]], 10, axis=0)
ISLANDS = (SIDES + np.random.default_rng(4).normal(size=(20, 6)) * 0.3).astype(np.float32)


def test_texts_open_with_the_field_that_neighbours_agree_on() -> None:
    vectors = mm.Vectors(WORDS[:20], ISLANDS)
    known = [
        {
            "id": f"t{i}",
            "parity": "even" if i % 2 else "odd",
            "about": "food" if i < 10 else "rooms",
        }
        for i in range(20)
    ]
    texts = [f"text {word}" for word in WORDS[:20]]
    (space,) = build_scene(text_points("reviews", vectors, texts, known)).spaces
    assert [field.name for field in space.fields] == ["about", "id", "parity", "cluster"]
    without = [{"id": one["id"], "parity": one["parity"]} for one in known]
    (space,) = build_scene(text_points("reviews", vectors, texts, without)).spaces
    assert [field.name for field in space.fields] == ["cluster", "id", "parity"]


def test_what_each_text_has_for_itself_is_not_begun_with() -> None:
    vectors = mm.Vectors(WORDS[:5], NUMBERS[:5])
    known = [{"title": f"title {i}", "year": 2000 + i} if i else {} for i in range(5)]
    points = text_points("reviews", vectors, WORDS[:5], known)
    (space,) = build_scene(points).spaces
    assert [field.name for field in space.fields] == ["cluster", "title", "year"]
    year = space.fields[2]
    assert year.kind == "number"  # of the one without it nothing is known
    np.testing.assert_array_equal(year.values, [np.nan, 2001, 2002, 2003, 2004])


def test_zero_and_one_are_labels() -> None:
    points = text_points(
        "reviews", mm.Vectors("abcd", NUMBERS[:4]), "wxyz", [{"label": 1}] * 3 + [{}]
    )
    (field,) = points.fields
    assert (field.kind, field.labels) == ("label", ("1", "no value"))


def test_texts_are_shown_whole_up_to_a_limit() -> None:
    texts = ["two\nlines", "x" * 10_000, "y" * 10_001]
    points = text_points("reviews", mm.Vectors("abc", NUMBERS[:3]), texts)
    assert points.details is not None
    assert list(points.details) == [texts[0], texts[1], "y" * 10_000 + " …"]
    assert points.notes == ("texts are shown up to 10,000 characters; longer: 1",)
    assert points.labelled_by == "text"
    with pytest.raises(mm.InvalidArgumentError, match="1 sets of fields for 3 texts"):
        text_points("reviews", mm.Vectors("abc", NUMBERS[:3]), texts, [{}])


def test_texts_that_are_their_own_keys_are_words() -> None:
    points = text_points("words", mm.Vectors("abc", NUMBERS[:3]), "abc")
    assert (points.details, points.labelled_by) == (None, "key")


def test_clusters_of_texts_are_named_by_their_words() -> None:
    texts = [f"the breakfast and dinner were cold {i}" for i in range(10)]
    texts += [f"our rooms were small, and the bed was not clean {i}" for i in range(10)]
    points = text_points("reviews", mm.Vectors(WORDS[:20], ISLANDS), texts)
    (space,) = build_scene(points, settings=ProjectionSettings(clusters=2)).spaces
    names = [set(name.split(", ")) for name in space.fields[0].labels]
    assert sorted(names, key=min) == [{"bed", "clean", "rooms"}, {"breakfast", "cold", "dinner"}]
    assert space.labelled_by == "text"


@given(arrays(np.float32, (4, 5), elements=st.floats(-1e6, 1e6, width=32)))
def test_quantized_rows_are_off_by_half_a_step(matrix: Float32Array) -> None:
    coarse = quantize_rows(matrix)
    back = coarse.bytes.astype(np.float64) * coarse.scales.astype(np.float64)[:, np.newaxis]
    step = np.abs(matrix).max(axis=1, keepdims=True) / 127
    assert (np.abs(back - matrix) <= 0.5001 * step + 1e-40).all()


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        (NUMBERS[:2], "2 vectors"),
        (np.ones((4, 3)), "equal"),
        (np.full((4, 3), np.nan), "0 vectors"),
        (np.empty((4, 0)), "0 dimensions"),
    ],
)
def test_what_makes_no_picture_is_refused(matrix: Float32Array, said: str) -> None:
    with pytest.raises(mm.InvalidArgumentError, match=said):
        build_scene(mm.Vectors([f"w{i}" for i in range(len(matrix))], matrix))


def test_rows_without_numbers_are_left_out_and_counted() -> None:
    matrix = NUMBERS.copy()
    matrix[7, 2], matrix[9, 0], matrix[11] = np.nan, np.inf, 0
    points = Points("words", mm.Vectors(WORDS, matrix), details=[f"of {word}" for word in WORDS])
    (space,) = build_scene(points).spaces
    assert len(space.keys) == len(space.coords_2d) == 48
    assert "w7" not in list(space.keys)
    assert space.details is not None
    assert space.details[7] == "of w8"
    assert "2 left out" in space.notes[0]
    assert "'w7'" in space.notes[0]
    assert "1 vectors are all zeros" in space.notes[1]


def test_settings_and_points_that_make_no_sense_are_refused() -> None:
    vectors = mm.Vectors(WORDS, NUMBERS)
    with pytest.raises(mm.InvalidArgumentError, match="at least 1"):
        ProjectionSettings(neighbours=0)
    with pytest.raises(mm.InvalidArgumentError, match="not 'dot'"):
        ProjectionSettings(metric="dot")  # type: ignore[arg-type]
    with pytest.raises(mm.InvalidArgumentError, match="one set of vectors or two, not 3"):
        build_scene(vectors, vectors, vectors)
    with pytest.raises(mm.InvalidArgumentError, match="3 values of 'rank' for 50 points"):
        Points("words", vectors, (Field("rank", "number", np.zeros(3, np.float32)),))
