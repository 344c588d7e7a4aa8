"""Rows ranked for each other are what asking for each one gives, however the work is cut."""

import numpy as np
import pytest

import malmoi as mm
from malmoi.arrays import Float32Array
from malmoi.nearest import all_pairs as mutual
from malmoi.nearest.all_pairs import rank_all_pairs
from malmoi.nearest.top_k import Metric


def naive(matrix: Float32Array, k: int, metric: Metric) -> list[list[int]]:
    exact = matrix.astype(np.float64)
    lengths = np.maximum(np.linalg.norm(exact, axis=1), 1e-20)
    found = []
    for one, row in enumerate(exact):
        if metric == "euclidean":
            scores = -np.linalg.norm(exact - row, axis=1)
        else:
            scores = exact @ row / (lengths if metric == "cosine" else 1)
        order = np.lexsort((np.arange(len(exact)), -scores))
        found.append([at for at in order.tolist() if at != one][:k])
    return found


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "dot"])
@pytest.mark.parametrize("rows", [2, 5, 63, 64, 65, 200])
@pytest.mark.parametrize("tile", [16, 100, 2048])
def test_every_row_is_given_its_nearest(
    metric: Metric, rows: int, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutual, "TILE_ROWS", tile)
    matrix = np.random.default_rng(rows).normal(size=(rows, 7)).astype(np.float32)
    matrix[-1] *= 10
    vectors = mm.Vectors([f"w{i}" for i in range(rows)], matrix)
    found = rank_all_pairs(vectors, 4, [metric])[metric]
    assert found.rows.tolist() == naive(matrix, min(4, rows - 1), metric)


def test_many_equal_rows_are_near_and_zeros_are_near_to_nothing() -> None:
    matrix = np.array([[1, 0]] * 30 + [[0, 0], [0, 1]], np.float32)
    found = rank_all_pairs(mm.Vectors([f"w{i}" for i in range(32)], matrix), 3)
    assert found["cosine"].scores[:30].tolist() == [[1, 1, 1]] * 30
    assert found["euclidean"].scores[:30].tolist() == [[0, 0, 0]] * 30
    assert found["cosine"].scores[30].tolist() == [0, 0, 0]
    assert found["euclidean"].rows[31, 0] == 30
    assert not (found["cosine"].rows == np.arange(32)[:, np.newaxis]).any()


def test_progress_goes_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutual, "TILE_ROWS", 10)
    told: list[tuple[int, int]] = []
    vectors = mm.Vectors([f"w{i}" for i in range(25)], np.eye(25, dtype=np.float32))
    rank_all_pairs(vectors, 2, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 6) for done in range(7)]
