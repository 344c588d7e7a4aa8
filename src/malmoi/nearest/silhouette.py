"""The silhouette of a clustering (Rousseeuw 1987): how well separated its groups are."""

import numpy as np

from malmoi.arrays import Float64Array, IntegerArray


def silhouette(distances: Float64Array, groups: IntegerArray) -> float:
    """The mean over rows of (b - a) / max(a, b), from -1 to 1.

    a is the mean distance of a row to its own group, b that to the nearest other group. A row
    that is alone in its group counts as 0.

    `distances` is [n, n]; `groups` [n] numbers the group of each row from 0, without gaps.
    """
    sizes = np.bincount(groups)
    sums = np.stack([distances[:, groups == g].sum(axis=1) for g in range(len(sizes))], axis=1)
    rows = np.arange(len(groups))
    own = sums[rows, groups] / np.maximum(sizes[groups] - 1, 1)
    means = sums / sizes
    means[rows, groups] = np.inf
    nearest = means.min(axis=1)
    larger = np.maximum(own, nearest)
    scores = np.divide(nearest - own, larger, out=np.zeros(len(rows)), where=larger > 0)
    return float(np.where(sizes[groups] > 1, scores, 0).mean())
