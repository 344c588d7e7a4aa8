"""Relative position bias of MPNet: attention depends on the distance between two tokens.

Distances fall into buckets, half of them for earlier and half for later tokens. Half of each half
holds one distance per bucket; in the rest, buckets grow logarithmically up to MAX_DISTANCE.
"""

import math

import numpy as np

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.encode.checkpoint.config import RELATIVE_BUCKETS

MAX_DISTANCE = 128  # tokens; larger distances share the last bucket


def distance_buckets(distances: Int32Array) -> Int64Array:
    """The bucket of each distance from one token to another.

    Computed in float32, as in training: a bucket begins where a logarithm is an integer.
    """
    half = RELATIVE_BUCKETS // 2
    exact = half // 2
    lengths = np.abs(distances)
    ratio = np.maximum(lengths, 1).astype(np.float32) / np.float32(exact)
    steps = np.log(ratio) / np.float32(math.log(MAX_DISTANCE / exact)) * np.float32(half - exact)
    logarithmic = np.minimum(exact + steps.astype(np.int64), half - 1)
    buckets: Int64Array = np.where(lengths < exact, lengths, logarithmic) + half * (distances > 0)
    return buckets


def relative_position_bias(biases: Float32Array, positions: int) -> Float32Array:
    """The bias of each distance: [buckets, heads] to [1, heads, 2 · positions - 1]."""
    distances = np.arange(1 - positions, positions, dtype=np.int32)
    table: Float32Array = biases[distance_buckets(distances)].T[np.newaxis]
    return table


def bias_indices(longest: int, positions: int) -> Int32Array:
    """The index into that table for each pair of tokens of a text, [longest, longest]."""
    tokens = np.arange(longest, dtype=np.int32)
    return tokens - tokens[:, np.newaxis] + np.int32(positions - 1)
