"""How much of what is near a picture keeps: the share of nearest points that stay nearest."""

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array

SAMPLE = 1000  # points that are looked at


def sampled(points: int, *, seed: int = 1, sample: int = SAMPLE) -> Int64Array:
    """The points that are looked at: all of them, or some where there are many."""
    if points <= sample:
        return np.arange(points)
    return np.random.default_rng(seed).choice(points, sample, replace=False)


def kept_share(asked: Int64Array, near: npt.NDArray[np.integer], places: Float32Array) -> float:
    """The mean of |k nearest ∩ k nearest in the picture| / k over the points asked.

    `near` [asked, k] are the nearest of each; `places` [points, 2 or 3] where all are drawn.
    Equally far ones count by row.
    """
    k = near.shape[1]
    columns = np.ascontiguousarray(places.T, dtype=np.float64)
    same = sum(
        len(np.intersect1d(rows, _nearest(columns, one, k)))
        for one, rows in zip(asked.tolist(), near, strict=True)
    )
    share: float = same / (k * len(asked))
    return share


def _nearest(columns: npt.NDArray[np.float64], one: int, k: int) -> Int64Array:
    """The k points drawn nearest to one of them."""
    far = np.zeros(columns.shape[1])
    for column in columns:
        far += (column - column[one]) ** 2
    far[one] = np.inf
    worst = np.partition(far, k - 1)[k - 1]
    inside = np.flatnonzero(far <= worst)
    return inside[np.lexsort((inside, far[inside]))[:k]]
