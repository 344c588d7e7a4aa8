"""Rows of pieces made one row a group: the pieces of a text, or the pieces of a word.

Groups lie one after the other: group i is rows[bounds[i] : bounds[i + 1]], and may be empty.
Knows nothing of texts, words or models.
"""

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array

Pool = Literal["cls", "mean", "max", "mean_sqrt", "first", "last", "none"]
Join = Literal["mean", "sum", "first", "last"]
POOLS: tuple[Pool, ...] = get_args(Pool)
JOINS: tuple[Join, ...] = get_args(Join)
POWERS = {"mean": 1.0, "mean_sqrt": 0.5}  # of n, by which the sum is divided
PARTLY: dict[Pool, Pool | Join] = {"mean": "sum", "mean_sqrt": "sum", "cls": "first"}


def pool_groups(rows: Float32Array, bounds: Int64Array, how: Pool | Join) -> Float32Array:
    """[pieces, dim] to [groups, dim]; a group without pieces becomes zeros.

    `mean_sqrt` is the sum over √n, as sentence-transformers has it; `cls` is the first piece,
    which is [CLS] as long as special pieces are there. `none` leaves the pieces as they are.
    """
    if how == "none":
        return rows
    sizes = np.diff(bounds)
    filled = np.flatnonzero(sizes)
    pooled: Float32Array = np.zeros((len(sizes), rows.shape[1]), np.float32)
    if len(filled) == 0:
        return pooled
    starts = bounds[:-1][filled]
    if how in ("cls", "first"):
        pooled[filled] = rows[starts]
    elif how == "last":
        pooled[filled] = rows[bounds[1:][filled] - 1]
    elif how == "max":
        pooled[filled] = np.maximum.reduceat(rows, starts, axis=0)
    else:
        pooled[filled] = np.add.reduceat(rows, starts, axis=0)
        pooled[filled] /= _divisors(sizes[filled], how)
    return pooled


def pool_partly(rows: Float32Array, bounds: Int64Array, how: Pool) -> Float32Array:
    """Groups of which each is only a part of another, to be put together by `pool_parts`."""
    return pool_groups(rows, bounds, PARTLY.get(how, how))


def pool_parts(
    parts: Float32Array, bounds: Int64Array, sizes: Int64Array, how: Pool
) -> Float32Array:
    """Groups of parts, [parts, dim] to [groups, dim]; `sizes` says how many rows a group had."""
    return pool_groups(parts, bounds, PARTLY.get(how, how)) / _divisors(np.maximum(sizes, 1), how)


def _divisors(sizes: Int64Array, how: Pool | Join) -> Float32Array:
    divisors: Float32Array = sizes[:, np.newaxis].astype(np.float32) ** np.float32(
        POWERS.get(how, 0.0)
    )
    return divisors


def group_bounds(sizes: npt.ArrayLike) -> Int64Array:
    """Where groups of these sizes begin and end."""
    given = np.asarray(sizes, np.int64)
    bounds: Int64Array = np.zeros(len(given) + 1, np.int64)
    given.cumsum(out=bounds[1:])
    return bounds
