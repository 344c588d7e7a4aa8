"""Pools rows of tokens into one row per group: the tokens of a text, or of a word.

There are mean pooling, max pooling, sums, and single tokens such as [CLS].
Group i is rows[bounds[i] : bounds[i + 1]]; it may be empty.
Knows nothing of texts, words or models.
"""

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array

Pool = Literal["cls", "mean", "max", "mean_sqrt", "first", "last", "none"]
WordPooling = Literal["mean", "sum", "first", "last"]
POOLS: tuple[Pool, ...] = get_args(Pool)
WORD_POOLINGS: tuple[WordPooling, ...] = get_args(WordPooling)
DIVISOR_POWERS = {"mean": 1.0, "mean_sqrt": 0.5}  # the sum is divided by this power of n
PARTIAL_POOLS: dict[Pool, Pool | WordPooling] = {"mean": "sum", "mean_sqrt": "sum", "cls": "first"}


def pool_groups(rows: Float32Array, bounds: Int64Array, pool: Pool | WordPooling) -> Float32Array:
    """Mean pooling, max pooling, …: [tokens, dim] to [groups, dim]; an empty group becomes zeros.

    `mean_sqrt` is the sum divided by √n, as in sentence-transformers; `cls` is the first token,
    which is [CLS] if special tokens are included. `none` returns the tokens unchanged.
    """
    if pool == "none":
        return rows
    sizes = np.diff(bounds)
    filled = np.flatnonzero(sizes)
    pooled: Float32Array = np.zeros((len(sizes), rows.shape[1]), np.float32)
    if len(filled) == 0:
        return pooled
    starts = bounds[:-1][filled]
    if pool in ("cls", "first"):
        pooled[filled] = rows[starts]
    elif pool == "last":
        pooled[filled] = rows[bounds[1:][filled] - 1]
    elif pool == "max":
        pooled[filled] = np.maximum.reduceat(rows, starts, axis=0)
    else:
        pooled[filled] = np.add.reduceat(rows, starts, axis=0)
        pooled[filled] /= _divisors(sizes[filled], pool)
    return pooled


def pool_parts(rows: Float32Array, bounds: Int64Array, pool: Pool) -> Float32Array:
    """Pool groups that are parts of larger groups, for `combine_parts`."""
    return pool_groups(rows, bounds, PARTIAL_POOLS.get(pool, pool))


def combine_parts(
    parts: Float32Array, bounds: Int64Array, sizes: Int64Array, pool: Pool
) -> Float32Array:
    """Combine parts, [parts, dim] to [groups, dim]; `sizes` are the numbers of rows of groups."""
    combined = pool_groups(parts, bounds, PARTIAL_POOLS.get(pool, pool))
    return combined / _divisors(np.maximum(sizes, 1), pool)


def _divisors(sizes: Int64Array, pool: Pool | WordPooling) -> Float32Array:
    divisors: Float32Array = sizes[:, np.newaxis].astype(np.float32) ** np.float32(
        DIVISOR_POWERS.get(pool, 0.0)
    )
    return divisors


def group_bounds(sizes: npt.ArrayLike) -> Int64Array:
    """The bounds of groups of these sizes."""
    lengths = np.asarray(sizes, np.int64)
    bounds: Int64Array = np.zeros(len(lengths) + 1, np.int64)
    lengths.cumsum(out=bounds[1:])
    return bounds
