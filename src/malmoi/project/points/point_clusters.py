"""Points that lie together: k-means, seeded, and clusters named by the keys in their middle."""

from collections.abc import Sequence

import numpy as np

from malmoi.arrays import Float32Array, Int32Array
from malmoi.project.scene import Field

CLUSTER = "cluster"  # the field's name
LEARNT = 20_000  # points that centres are found from
ROUNDS = 50
ROWS = 16_384  # points that are told their centre at a time
NAMED = 3  # keys in a name


def cluster_field(keys: Sequence[str], matrix: Float32Array, count: int, *, seed: int = 1) -> Field:
    """Which cluster each point is in, as a label that names its most central keys."""
    which, centres = find_clusters(matrix, count, seed=seed)
    labels = []
    for cluster, centre in enumerate(centres):
        inside = np.flatnonzero(which == cluster)
        far = ((matrix[inside] - centre) ** 2).sum(axis=1)
        middle = inside[np.lexsort((inside, far))[:NAMED]]
        labels.append(", ".join(keys[row] for row in middle.tolist()))
    return Field(CLUSTER, "label", which, tuple(labels))


def find_clusters(
    matrix: Float32Array, count: int, *, seed: int = 1
) -> tuple[Int32Array, Float32Array]:
    """Each row's cluster, the largest first, and the centres [clusters, dim]; none is empty."""
    chance = np.random.default_rng(seed)
    some = matrix
    if len(matrix) > LEARNT:
        some = matrix[np.sort(chance.choice(len(matrix), LEARNT, replace=False))]
    centres = _first_centres(some, count, chance)
    which = _nearest(some, centres)
    for _ in range(ROUNDS):
        centres = _means(some, which, centres)
        moved = _nearest(some, centres)
        if np.array_equal(moved, which):
            break
        which = moved
    which = which if some is matrix else _nearest(matrix, centres)
    sizes = np.bincount(which, minlength=len(centres))
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    place = np.zeros(len(centres), dtype=np.int32)
    place[order] = np.arange(len(order))
    return place[which], centres[order]


def _first_centres(matrix: Float32Array, count: int, chance: np.random.Generator) -> Float32Array:
    """Rows far apart, as k-means++ draws them (Arthur & Vassilvitskii 2007)."""
    chosen = [int(chance.integers(len(matrix)))]
    far = np.full(len(matrix), np.inf)
    for _ in range(count - 1):
        far = np.minimum(far, ((matrix - matrix[chosen[-1]]) ** 2).sum(axis=1, dtype=np.float64))
        if not far.any():
            break  # fewer rows differ than clusters are wanted
        chosen.append(int(chance.choice(len(matrix), p=far / far.sum())))
    return matrix[chosen]


def _nearest(matrix: Float32Array, centres: Float32Array) -> Int32Array:
    """The nearest centre of each row."""
    half = 0.5 * (centres * centres).sum(axis=1)
    parts = [
        (matrix[start : start + ROWS] @ centres.T - half).argmax(axis=1)
        for start in range(0, len(matrix), ROWS)
    ]
    return np.concatenate(parts).astype(np.int32)


def _means(matrix: Float32Array, which: Int32Array, before: Float32Array) -> Float32Array:
    """The mean of each cluster; an empty one stays where it was."""
    centres = before.copy()
    for cluster in range(len(before)):
        inside = which == cluster
        if inside.any():
            centres[cluster] = matrix[inside].mean(axis=0, dtype=np.float64)
    return centres
