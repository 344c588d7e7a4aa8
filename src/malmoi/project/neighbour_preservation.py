"""Neighbour preservation: the share of nearest points that stay nearest in the picture."""

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array

SAMPLE = 1000  # points that the share is measured on


def sample_points(points: int, *, seed: int = 1, sample: int = SAMPLE) -> Int64Array:
    """The rows to measure on: all points, or a sample if there are many."""
    if points <= sample:
        return np.arange(points)
    return np.random.default_rng(seed).choice(points, sample, replace=False)


def preserved_share(
    sample_rows: Int64Array, near: npt.NDArray[np.integer], coords: Float32Array
) -> float:
    """The mean of |k nearest ∩ k nearest in the picture| / k over the sampled points.

    `near` [sample, k] are the nearest rows of each; `coords` [points, 2 or 3] of all points. Ties
    count by row.
    """
    k = near.shape[1]
    columns = np.ascontiguousarray(coords.T, dtype=np.float64)
    same = sum(
        len(np.intersect1d(rows, _nearest(columns, point, k)))
        for point, rows in zip(sample_rows.tolist(), near, strict=True)
    )
    share: float = same / (k * len(sample_rows))
    return share


def _nearest(columns: npt.NDArray[np.float64], point: int, k: int) -> Int64Array:
    """The k points nearest to a point in the picture."""
    distances = np.zeros(columns.shape[1])
    for column in columns:
        distances += (column - column[point]) ** 2
    distances[point] = np.inf
    farthest = np.partition(distances, k - 1)[k - 1]
    nearest = np.flatnonzero(distances <= farthest)
    return nearest[np.lexsort((nearest, distances[nearest]))[:k]]
