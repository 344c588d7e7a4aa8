"""The nearest points of every point, in all dimensions: exact, whatever the picture shows."""

from collections.abc import Mapping
from itertools import chain

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.nearest.all_pairs import rank_all_pairs
from malmoi.nearest.top_k import Metric, rank_rows
from malmoi.project.scene import Near
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors, l2_normalize

METRICS: tuple[Metric, ...] = ("cosine", "euclidean")
ASKED = 2048  # points at a time


def near_lists(
    vectors: Vectors, k: int, *, progress: Progress = no_progress
) -> Mapping[Metric, Near]:
    """The k nearest of each row, itself left out, by cosine and by distance."""
    found = rank_all_pairs(vectors, k, METRICS, progress=progress)
    return {
        metric: Near(ranking.rows.astype(np.uint32), ranking.scores)
        for metric, ranking in found.items()
    }


def near_among(
    vectors: Vectors, rest: Vectors, k: int, *, progress: Progress = no_progress
) -> tuple[Mapping[Metric, Near], Vectors]:
    """The same among `rest` too, and the part of the rest that is near to anything.

    Row len(vectors) + i of a list is row i of that part.
    """
    every = Vectors(chain(vectors.keys, rest.keys), np.concatenate([vectors.matrix, rest.matrix]))
    found = {}
    for done, metric in enumerate(METRICS):
        parts = []
        for start in range(0, len(vectors), ASKED):
            progress(done * len(vectors) + start, len(METRICS) * len(vectors))
            asked = vectors.matrix[start : start + ASKED]
            ranking = rank_rows(
                every, l2_normalize(asked) if metric == "cosine" else asked, k + 1, metric
            )
            own = np.arange(start, start + len(asked))
            parts.append(_others(ranking.rows, ranking.scores, own))
        rows, scores = zip(*parts, strict=True)
        found[metric] = np.concatenate(rows), np.concatenate(scores)
    progress(1, 1)
    used = np.unique(np.concatenate([rows.ravel() for rows, _ in found.values()]))
    used = used[used >= len(vectors)]
    place = np.arange(len(every))
    place[used] = len(vectors) + np.arange(len(used))
    lists = {
        metric: Near(place[rows].astype(np.uint32), scores)
        for metric, (rows, scores) in found.items()
    }
    return lists, rest.take(used - len(vectors))


def nearest_of(vectors: Vectors, asked: Int64Array, k: int) -> Int64Array:
    """[asked, k]: the nearest of some rows by cosine, themselves left out."""
    found = rank_rows(
        vectors, l2_normalize(vectors.matrix[asked]), min(k + 1, len(vectors)), "cosine"
    )
    return _others(found.rows, found.scores, asked)[0]


def _others(
    rows: Int64Array, scores: Float32Array, own: Int64Array
) -> tuple[Int64Array, Float32Array]:
    """[asked, k] of [asked, k + 1]: the row itself is left out, or the last if it is not there."""
    other = rows != own[:, np.newaxis]
    other[other.all(axis=1), -1] = False
    shape = (len(rows), rows.shape[1] - 1)
    return rows[other].reshape(shape), scores[other].reshape(shape)
