"""How far apart two pieces are, as MPNet tells attention: near ones exactly, far ones roughly.

Distances fall into buckets, half of them for pieces before and half for pieces after; of each
half one half holds a distance each, the other grows with its logarithm up to FARTHEST.
"""

import math

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int32Array

BUCKETS, FARTHEST = 32, 128


def buckets_of(distances: Int32Array) -> npt.NDArray[np.int64]:
    """The bucket of each distance from a piece to another one.

    In float32, as the model was trained: a bucket begins just where a logarithm is whole.
    """
    half = BUCKETS // 2
    exact = half // 2
    far = np.abs(distances)
    ratio = np.maximum(far, 1).astype(np.float32) / np.float32(exact)
    steps = np.log(ratio) / np.float32(math.log(FARTHEST / exact)) * np.float32(half - exact)
    rough = np.minimum(exact + steps.astype(np.int64), half - 1)
    found: npt.NDArray[np.int64] = np.where(far < exact, far, rough) + half * (distances > 0)
    return found


def distance_table(biases: Float32Array, positions: int) -> Float32Array:
    """What attention adds for each distance: [buckets, heads] to [1, heads, 2 · positions - 1]."""
    distances = np.arange(1 - positions, positions, dtype=np.int32)
    table: Float32Array = biases[buckets_of(distances)].T[np.newaxis]
    return table


def distances_within(longest: int, positions: int) -> Int32Array:
    """Where the table has the distance of each two pieces of a text, [longest, longest]."""
    place = np.arange(longest, dtype=np.int32)
    return place - place[:, np.newaxis] + np.int32(positions - 1)
