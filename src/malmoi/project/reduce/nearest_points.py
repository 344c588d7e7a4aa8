"""The exact nearest points of every point, in all dimensions."""

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
QUERY_BATCH = 2048  # points


def near_lists(
    vectors: Vectors, k: int, *, progress: Progress = no_progress
) -> Mapping[Metric, Near]:
    """The k nearest other rows of each row, by cosine and by Euclidean distance."""
    rankings = rank_all_pairs(vectors, k, METRICS, progress=progress)
    return {
        metric: Near(ranking.rows.astype(np.uint32), ranking.scores)
        for metric, ranking in rankings.items()
    }


def near_among(
    vectors: Vectors, rest: Vectors, k: int, *, progress: Progress = no_progress
) -> tuple[Mapping[Metric, Near], Vectors]:
    """The nearest of each row among `vectors` and `rest`, and the part of `rest` in these lists.

    Row len(vectors) + i of a list is row i of that part.
    """
    combined = Vectors(
        chain(vectors.keys, rest.keys), np.concatenate([vectors.matrix, rest.matrix])
    )
    rankings = {}
    for done, metric in enumerate(METRICS):
        parts = []
        for start in range(0, len(vectors), QUERY_BATCH):
            progress(done * len(vectors) + start, len(METRICS) * len(vectors))
            queries = vectors.matrix[start : start + QUERY_BATCH]
            ranking = rank_rows(
                combined, l2_normalize(queries) if metric == "cosine" else queries, k + 1, metric
            )
            own = np.arange(start, start + len(queries))
            parts.append(_others(ranking.rows, ranking.scores, own))
        rows, scores = zip(*parts, strict=True)
        rankings[metric] = np.concatenate(rows), np.concatenate(scores)
    progress(1, 1)
    used = np.unique(np.concatenate([rows.ravel() for rows, _ in rankings.values()]))
    used = used[used >= len(vectors)]
    positions = np.arange(len(combined))
    positions[used] = len(vectors) + np.arange(len(used))
    lists = {
        metric: Near(positions[rows].astype(np.uint32), scores)
        for metric, (rows, scores) in rankings.items()
    }
    return lists, rest.take(used - len(vectors))


def nearest_of(vectors: Vectors, query_rows: Int64Array, k: int) -> Int64Array:
    """The k nearest other rows of some rows by cosine, [queries, k]."""
    ranking = rank_rows(
        vectors, l2_normalize(vectors.matrix[query_rows]), min(k + 1, len(vectors)), "cosine"
    )
    return _others(ranking.rows, ranking.scores, query_rows)[0]


def _others(
    rows: Int64Array, scores: Float32Array, own: Int64Array
) -> tuple[Int64Array, Float32Array]:
    """Remove the row itself from [queries, k + 1], or the last if the row is missing."""
    other = rows != own[:, np.newaxis]
    other[other.all(axis=1), -1] = False
    shape = (len(rows), rows.shape[1] - 1)
    return rows[other].reshape(shape), scores[other].reshape(shape)
