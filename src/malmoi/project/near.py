"""The nearest points of every point, in all dimensions: exact, whatever the picture shows."""

from collections.abc import Mapping, Sequence

import numpy as np

from malmoi.files.progress import Progress, silent
from malmoi.nearest.ranking import Metric, Rows, rank_rows, unit
from malmoi.project.scene import Near
from malmoi.vectors import Matrix, Vectors

ASKED = 4096  # points at a time


def near_lists(
    vectors: Vectors,
    k: int,
    metrics: Sequence[Metric] = ("cosine", "euclidean"),
    *,
    progress: Progress = silent,
) -> Mapping[Metric, Near]:
    """The k nearest of each row, itself left out, by each metric; fewer where there are fewer."""
    k = min(k, len(vectors) - 1)
    found = {}
    for done, metric in enumerate(metrics):
        rows = np.empty((len(vectors), k), dtype=np.uint32)
        scores = np.empty((len(vectors), k), dtype=np.float32)
        for start in range(0, len(vectors), ASKED):
            progress(done * len(vectors) + start, len(metrics) * len(vectors))
            part = slice(start, start + ASKED)
            asked = vectors.matrix[part]
            ranking = rank_rows(
                vectors, unit(asked) if metric == "cosine" else asked, k + 1, metric
            )
            own = np.arange(start, start + len(asked))
            rows[part], scores[part] = _others(ranking.rows, ranking.scores, own)
        found[metric] = Near(rows, scores)
    progress(1, 1)
    return found


def _others(rows: Rows, scores: Matrix, own: Rows) -> tuple[Rows, Matrix]:
    """[asked, k] of [asked, k + 1]: the row itself is left out, or the last if it is not there."""
    other = rows != own[:, np.newaxis]
    other[other.all(axis=1), -1] = False
    shape = (len(rows), rows.shape[1] - 1)
    return rows[other].reshape(shape), scores[other].reshape(shape)
