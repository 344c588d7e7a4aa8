"""Neighbour lists are what asking for each word gives; the share kept is what counting gives."""

import numpy as np
import pytest

import malmoi as mm
from malmoi.arrays import Float32Array
from malmoi.nearest.top_k import Metric
from malmoi.project.neighbour_preservation import preserved_share, sample_points
from malmoi.project.reduce.nearest_points import near_lists, nearest_of
from malmoi.project.scene import Near


def some_vectors(rows: int, dim: int, seed: int = 0) -> mm.Vectors:
    matrix = np.random.default_rng(seed).normal(size=(rows, dim)).astype(np.float32)
    return mm.Vectors([f"w{i}" for i in range(rows)], matrix)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_lists_are_what_neighbours_answers(metric: Metric) -> None:
    vectors = some_vectors(3000, 12)
    near = near_lists(vectors, 7)[metric]
    answers = mm.neighbours(vectors, list(vectors.keys), 7, metric=metric)
    assert [[vectors.keys[row] for row in rows] for rows in near.rows.tolist()] == [
        [one.key for one in answer] for answer in answers
    ]
    expected = [[one.score for one in answer] for answer in answers]
    np.testing.assert_allclose(near.scores, expected, atol=1e-6)


def test_a_point_is_never_its_own_neighbour_however_many_are_equal() -> None:
    vectors = mm.Vectors("abcdef", np.ones((6, 2), np.float32))
    for near in near_lists(vectors, 3).values():
        assert not (near.rows == np.arange(6)[:, np.newaxis]).any()


def test_few_points_have_short_lists() -> None:
    near = near_lists(some_vectors(4, 2), 10)
    assert near["cosine"].rows.shape == near["euclidean"].scores.shape == (4, 3)


def test_share_kept_is_what_counting_gives() -> None:
    vectors = some_vectors(300, 6)
    near = near_lists(vectors, 5)["euclidean"]
    places = vectors.matrix[:, :2]
    every = sample_points(300)
    assert preserved_share(every, near.rows, places) == pytest.approx(naive_share(near, places))
    assert preserved_share(every, near.rows, vectors.matrix) == 1
    some = [sample_points(300, seed=seed, sample=100) for seed in (1, 1, 2)]
    few = [preserved_share(asked, near.rows[asked], places) for asked in some]
    assert few[0] == few[1] != few[2]


def test_the_nearest_of_some_points_are_those_of_the_lists() -> None:
    vectors, asked = some_vectors(50, 6), np.array([7, 3, 40])
    np.testing.assert_array_equal(
        nearest_of(vectors, asked, 5), near_lists(vectors, 5)["cosine"].rows[asked]
    )


def naive_share(near: Near, places: Float32Array) -> float:
    shares = []
    for one, rows in enumerate(near.rows.tolist()):
        far = [(float(np.linalg.norm(places[one] - place)), at) for at, place in enumerate(places)]
        drawn = [at for _, at in sorted(far) if at != one][: len(rows)]
        shares.append(len(set(rows) & set(drawn)) / len(rows))
    return float(np.mean(shares))
