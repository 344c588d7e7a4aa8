"""Vectors of extreme magnitude: lengths, cosines and rankings are as for others."""

import warnings
from typing import Any

import numpy as np
import pytest

from malmoi.arrays import Float32Array
from malmoi.encode.pipeline.text_pooling import recipe_pooling
from malmoi.encode.pooling.recipes import Recipe
from malmoi.errors import InvalidArgumentError
from malmoi.formats.convert import normalize_rows
from malmoi.nearest.all_pairs import rank_all_pairs
from malmoi.nearest.top_k import Metric, rank_rows
from malmoi.query.compare import similarity
from malmoi.query.neighbours import neighbours
from malmoi.search.build import build_index
from malmoi.vectors import Vectors, l2_normalize, row_norms

SCALES = (1e-38, 1e-30, 1e-22, 1e-20, 1e-16, 1.0, 1e15, 1e19, 1e20, 1e37)


def directions(rows: int = 60) -> Float32Array:
    drawn: Float32Array = np.random.default_rng(5).normal(size=(rows, 8)).astype(np.float32)
    return drawn


def of_many_lengths() -> tuple[Vectors, Vectors]:
    """Rows of all magnitudes, and the same directions of length one."""
    plain = directions()
    lengths = np.resize(np.array(SCALES), len(plain))[:, np.newaxis]
    keys = [f"w{i}" for i in range(len(plain))]
    return Vectors(keys, plain * lengths), Vectors(keys, l2_normalize(plain))


@pytest.mark.parametrize("scale", SCALES)
def test_lengths_are_those_of_double_precision(scale: float) -> None:
    rows = (directions() * np.float64(scale)).astype(np.float32)
    expected = np.linalg.norm(rows.astype(np.float64), axis=1)
    np.testing.assert_allclose(row_norms(rows), expected, rtol=1e-6)
    units = rows.astype(np.float64) / expected[:, np.newaxis]
    np.testing.assert_allclose(l2_normalize(rows), units, atol=1e-6)
    np.testing.assert_allclose(l2_normalize(rows[3]), units[3], atol=1e-6)
    pooling = recipe_pooling(Recipe(pool="mean", normalize=True))
    np.testing.assert_allclose(pooling.finish(rows), units, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_stay_and_the_type_of_numbers_too(dtype: type[np.floating[Any]]) -> None:
    rows = np.array([[0, 0], [3, 4], [0, 0]], dtype)
    assert l2_normalize(rows).dtype == dtype
    expected = np.array([[0, 0], [0.6, 0.8], [0, 0]])
    np.testing.assert_allclose(l2_normalize(rows), expected, rtol=1e-6)
    assert l2_normalize(rows[0]).tolist() == [0, 0]


def test_the_largest_numbers_have_a_direction_and_no_warning() -> None:
    most = np.full((2, 4), np.finfo(np.float32).max)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(l2_normalize(most), 0.5, rtol=1e-6)
        assert row_norms(most).tolist() == [np.inf, np.inf]
    with pytest.raises(
        InvalidArgumentError, match="'a' holds nan or inf, or its norm exceeds 3e38"
    ):
        neighbours(Vectors(["a", "b"], most), "a")


def test_cosines_do_not_depend_on_lengths() -> None:
    extreme, plain = of_many_lengths()
    for word in ("w0", "w3", "w7", "w9"):
        ours, expected = neighbours(extreme, word, 9), neighbours(plain, word, 9)
        assert [each.key for each in ours] == [each.key for each in expected]
        np.testing.assert_allclose(
            [each.score for each in ours], [each.score for each in expected], atol=1e-5
        )
        assert similarity(extreme, word, "w5") == pytest.approx(
            similarity(plain, word, "w5"), abs=1e-5
        )
    many = rank_rows(extreme, plain.matrix, 9)
    assert many.rows.tolist() == rank_rows(plain, plain.matrix, 9).rows.tolist()
    np.testing.assert_allclose(normalize_rows(extreme).matrix, plain.matrix, atol=1e-6)


def test_an_index_of_extreme_vectors_finds_what_is_near() -> None:
    extreme, plain = of_many_lengths()
    index, expected = build_index(extreme), build_index(plain)
    for word in ("w0", "w4", "w8"):
        hits = index.search(word, 5)
        assert [hit.id for hit in hits] == [hit.id for hit in expected.search(word, 5)]
        assert hits[0].score == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("metric", ["dot", "euclidean"])
@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_a_common_factor_changes_no_ranking(metric: Metric, scale: float) -> None:
    plain = directions()
    keys = [f"w{i}" for i in range(len(plain))]
    small, scaled = Vectors(keys, plain), Vectors(keys, plain * np.float64(scale))
    for asked in (slice(1), slice(20)):
        expected = rank_rows(small, plain[asked], 9, metric).rows
        assert rank_rows(scaled, scaled.matrix[asked], 9, metric).rows.tolist() == expected.tolist()


def test_rows_rank_each_other_whatever_their_lengths() -> None:
    extreme, plain = of_many_lengths()
    expected = rank_all_pairs(plain, 5)["cosine"]
    found = rank_all_pairs(extreme, 5)
    assert found["cosine"].rows.tolist() == expected.rows.tolist()
    np.testing.assert_allclose(found["cosine"].scores, expected.scores, atol=1e-5)
    far = np.argsort(np.linalg.norm(extreme.matrix.astype(float) - extreme.matrix[9], axis=1))
    assert found["euclidean"].rows[9, :2].tolist() == far[far != 9][:2].tolist()
