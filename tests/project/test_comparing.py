"""Two models side by side: the keys that both have, and pictures that lie alike."""

import numpy as np
import pytest
from scipy.spatial import procrustes as peer  # type: ignore[import-untyped]

import malmoi as mm
from malmoi.project.compare_scenes import procrustes
from malmoi.project.points.points import Points
from malmoi.project.points.word_points import word_points
from malmoi.project.scene_builder import ProjectionSettings, build_scene

CHANCE = np.random.default_rng(4)
NUMBERS = CHANCE.normal(size=(40, 6)).astype(np.float32)
WORDS = [f"w{i}" for i in range(40)]


def test_a_turned_and_mirrored_picture_is_turned_back() -> None:
    places = CHANCE.normal(size=(30, 3)).astype(np.float32)
    turn, _ = np.linalg.qr(CHANCE.normal(size=(3, 3)))
    np.testing.assert_allclose(procrustes(places @ turn * 3 + 7, places), places, atol=1e-4)


def test_what_is_left_over_is_what_scipy_leaves() -> None:
    places, like = CHANCE.normal(size=(2, 30, 2))
    moved = procrustes(places.astype(np.float32), like.astype(np.float32))
    _, _, disparity = peer(like, places)
    spread = ((like - like.mean(axis=0)) ** 2).sum()
    assert ((moved - like) ** 2).sum() / spread == pytest.approx(disparity, rel=1e-4)


def test_two_models_are_drawn_over_the_keys_they_share() -> None:
    first = Points("one", mm.Vectors(WORDS[:30], NUMBERS[:30]))
    turn, _ = np.linalg.qr(CHANCE.normal(size=(6, 6)))
    second = Points("two", mm.Vectors(WORDS[:9:-1], (NUMBERS @ turn)[:9:-1]))
    scene = build_scene(first, second, settings=ProjectionSettings(method="pca"))
    one, two = scene.spaces
    assert scene.title == "one and two"
    assert list(one.keys) == list(two.keys) == WORDS[10:30]
    np.testing.assert_allclose(one.coords_2d, two.coords_2d, atol=1e-4)
    assert one.fields[0].name == two.fields[0].name == "cluster"
    np.testing.assert_array_equal(one.fields[0].values, two.fields[0].values)
    assert one.fields[0].labels == two.fields[0].labels
    assert "20 keys shared, of 30 in two" in two.notes


def test_models_without_shared_keys_are_refused() -> None:
    with pytest.raises(mm.InvalidArgumentError, match="one and two share 2 keys"):
        build_scene(
            Points("one", mm.Vectors(WORDS[:5], NUMBERS[:5])),
            Points("two", mm.Vectors(WORDS[3:9], NUMBERS[:6])),
        )


def test_neighbours_are_those_of_the_whole_model_where_some_are_drawn() -> None:
    vectors = mm.Vectors(WORDS, NUMBERS)
    (space,) = build_scene(word_points(vectors, "few", most_frequent=15)).spaces
    names = [*space.keys, *space.others]
    assert len(space.coords_2d) == 15
    for metric in ("cosine", "euclidean"):
        for word, rows in zip(space.keys, space.near[metric].rows.tolist(), strict=True):
            expected = mm.neighbours(vectors, word, 10, metric=metric)
            assert [names[row] for row in rows] == [one.key for one in expected]
