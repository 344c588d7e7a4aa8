"""The nearest points of every point, in all dimensions: exact, whatever the picture shows."""

from collections.abc import Mapping

import numpy as np

from malmoi.files.progress import Progress, silent
from malmoi.nearest.mutual import rank_each_other
from malmoi.nearest.ranking import Metric
from malmoi.project.scene import Near
from malmoi.vectors import Vectors


def near_lists(vectors: Vectors, k: int, *, progress: Progress = silent) -> Mapping[Metric, Near]:
    """The k nearest of each row, itself left out, by cosine and by distance."""
    found = rank_each_other(vectors, k, progress=progress)
    return {
        metric: Near(ranking.rows.astype(np.uint32), ranking.scores)
        for metric, ranking in found.items()
    }
