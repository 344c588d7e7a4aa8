"""Seeded k-means: Lloyd's iterations from centres that k-means++ draws. Knows nothing of words."""

import numpy as np

from malmoi.arrays import Float32Array, Int32Array

MAX_TRAIN_POINTS = 20_000  # points that k-means runs on
MAX_ITERATIONS = 50
CHUNK_ROWS = 16_384  # points assigned in one batch


def find_clusters(
    matrix: Float32Array, count: int, *, seed: int = 1
) -> tuple[Int32Array, Float32Array]:
    """The cluster of each row, largest first, and the centres [clusters, dim]; none is empty."""
    random = np.random.default_rng(seed)
    sample = matrix
    if len(matrix) > MAX_TRAIN_POINTS:
        sample = matrix[np.sort(random.choice(len(matrix), MAX_TRAIN_POINTS, replace=False))]
    centres = _first_centres(sample, count, random)
    which = _nearest(sample, centres)
    for _ in range(MAX_ITERATIONS):
        centres = _means(sample, which, centres)
        moved = _nearest(sample, centres)
        if np.array_equal(moved, which):
            break
        which = moved
    which = which if sample is matrix else _nearest(matrix, centres)
    sizes = np.bincount(which, minlength=len(centres))
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    rank = np.zeros(len(centres), dtype=np.int32)
    rank[order] = np.arange(len(order))
    return rank[which], centres[order]


def _first_centres(matrix: Float32Array, count: int, random: np.random.Generator) -> Float32Array:
    """Rows far apart, as k-means++ draws them (Arthur & Vassilvitskii 2007)."""
    chosen = [int(random.integers(len(matrix)))]
    distances = np.full(len(matrix), np.inf)
    for _ in range(count - 1):
        distances = np.minimum(
            distances, ((matrix - matrix[chosen[-1]]) ** 2).sum(axis=1, dtype=np.float64)
        )
        if not distances.any():
            break  # there are fewer distinct rows than clusters
        chosen.append(int(random.choice(len(matrix), p=distances / distances.sum())))
    return matrix[chosen]


def _nearest(matrix: Float32Array, centres: Float32Array) -> Int32Array:
    """The nearest centre of each row."""
    half = 0.5 * (centres * centres).sum(axis=1)
    parts = [
        (matrix[start : start + CHUNK_ROWS] @ centres.T - half).argmax(axis=1)
        for start in range(0, len(matrix), CHUNK_ROWS)
    ]
    return np.concatenate(parts).astype(np.int32)


def _means(matrix: Float32Array, which: Int32Array, before: Float32Array) -> Float32Array:
    """The mean of each cluster; an empty cluster keeps its centre."""
    centres = before.copy()
    for cluster in range(len(before)):
        inside = which == cluster
        if inside.any():
            centres[cluster] = matrix[inside].mean(axis=0, dtype=np.float64)
    return centres
