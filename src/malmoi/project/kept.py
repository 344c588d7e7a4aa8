"""How much of what is near a picture keeps: the share of nearest points that stay nearest."""

import numpy as np
import numpy.typing as npt

from malmoi.nearest.ranking import Rows
from malmoi.project.scene import Near
from malmoi.vectors import Matrix

SAMPLE = 1000  # points that are looked at


def kept_share(near: Near, places: Matrix, *, seed: int = 1, sample: int = SAMPLE) -> float:
    """The mean of |k nearest ∩ k nearest in the picture| / k over a sample of the points.

    `places` [points, 2 or 3] are where they are drawn; equally far ones count by row.
    """
    points, k = near.rows.shape
    asked = np.arange(points)
    if points > sample:
        asked = np.random.default_rng(seed).choice(points, sample, replace=False)
    columns = np.ascontiguousarray(places.T, dtype=np.float64)
    same = sum(
        len(np.intersect1d(near.rows[one], _nearest(columns, one, k))) for one in asked.tolist()
    )
    share: float = same / (k * len(asked))
    return share


def _nearest(columns: npt.NDArray[np.float64], one: int, k: int) -> Rows:
    """The k points drawn nearest to one of them."""
    far = np.zeros(columns.shape[1])
    for column in columns:
        far += (column - column[one]) ** 2
    far[one] = np.inf
    worst = np.partition(far, k - 1)[k - 1]
    inside = np.flatnonzero(far <= worst)
    return inside[np.lexsort((inside, far[inside]))[:k]]
