"""A coarse copy of the unit vectors, to find the few rows that can be the nearest.

Each row is kept as bytes with a scale of its own. A dot product with it is off by at most
half a step for each number of the direction, so that rows which cannot be among the best are
told for certain, and the others are looked at exactly. Knows nothing of words.
"""

from dataclasses import dataclass

import numpy as np

from malmoi.kernels.compiled import in_parallel
from malmoi.kernels.screening import LANES, Tiles, screen
from malmoi.query.ranking import Rows, divisors, top
from malmoi.vectors import Matrix, Vectors

STEPS = 127


@dataclass(frozen=True)
class Screen:
    """`tiles[t, j, l]` is number j of row `t * LANES + l`, in steps of `scales[t, l]`."""

    tiles: Tiles
    scales: Matrix
    rows: int

    def candidates(self, direction: Matrix, k: int) -> Rows:
        """Rows that hold the k nearest to a direction for certain, and few others."""
        near = np.empty((len(self.tiles), LANES), dtype=np.float32)
        in_parallel(
            lambda first, last: screen(self.tiles, self.scales, direction, near, first, last),
            len(self.tiles),
        )
        flat = near.reshape(-1)[: self.rows]
        off = np.abs(direction).sum() * (self.scales.max() / 2) * 1.01  # and some for rounding
        least = flat[top(flat, k)[-1]] - 2 * off
        return np.flatnonzero(flat >= least)


def make_screen(vectors: Vectors) -> Screen:
    """Turn the vectors into bytes, a block of tiles at a time."""
    count = -(-len(vectors) // LANES)
    tiles = np.zeros((count, vectors.dim, LANES), dtype=np.int8)
    scales = np.ones((count, LANES), dtype=np.float32)
    for first in range(0, count, 128):
        rows = slice(first * LANES, (first + 128) * LANES)
        norms = vectors.norms[rows]
        block = vectors.matrix[rows] / divisors(norms)[:, np.newaxis]
        steps = np.abs(block).max(axis=1) / STEPS
        steps[steps == 0] = 1
        full = np.zeros((-(-len(block) // LANES) * LANES, vectors.dim), dtype=np.float32)
        full[: len(block)] = np.rint(block / steps[:, np.newaxis])
        part = slice(first, first + len(full) // LANES)
        tiles[part] = full.reshape(-1, LANES, vectors.dim).transpose(0, 2, 1)
        scales.reshape(-1)[rows] = np.append(steps, np.ones(len(full) - len(steps)))
    return Screen(tiles, scales, len(vectors))
