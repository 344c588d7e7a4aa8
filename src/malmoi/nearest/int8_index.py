"""A coarse copy of the unit vectors, to find the few rows that can be the nearest.

Each row is kept as bytes with a scale of its own. A dot product with it is off by at most
half a step for each number of the direction, so that rows which cannot be among the best are
told for certain, and the others are looked at exactly. Knows nothing of words.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from malmoi.arrays import Float32Array, Int8Array, Int64Array
from malmoi.kernels.core.jit import in_parallel
from malmoi.kernels.nearest.int8_scores import LANES, screen
from malmoi.nearest.top_k import divisors
from malmoi.vectors import Vectors

STEPS = 127


@dataclass(frozen=True)
class Int8Index:
    """`tiles[t, j, l]` is number j of row `t * LANES + l`, in steps of `scales[t, l]`."""

    tiles: Int8Array
    scales: Float32Array
    rows: int

    def candidates(self, direction: Float32Array, k: int) -> Int64Array:
        """Rows that hold the k nearest to a direction for certain, and few others."""
        near = np.empty((len(self.tiles), LANES), dtype=np.float32)
        best = np.empty(len(self.tiles), dtype=np.float32)
        in_parallel(
            lambda first, last: screen(self.tiles, self.scales, direction, near, best, first, last),
            len(self.tiles),
        )
        near.reshape(-1)[self.rows :] = -np.inf  # lanes without a row
        best[-1] = near[-1].max()
        # The k best tiles hold k rows at least as good as the worst of their best ones.
        least = -np.inf if k > len(best) else np.partition(best, -k)[-k] - 2 * self._off(direction)
        tiles = np.flatnonzero(best >= least)
        tile, lane = np.nonzero(near[tiles] >= least)
        rows = tiles[tile] * LANES + lane
        return rows[rows < self.rows]

    def _off(self, direction: Float32Array) -> float:
        """How far a product can be off: half a step a number, and some for rounding."""
        return float(np.abs(direction).sum()) * self.largest_step * 0.505

    @cached_property
    def largest_step(self) -> float:
        """The largest of the scales."""
        return float(self.scales.max())


def make_screen(vectors: Vectors) -> Int8Index:
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
        scales.reshape(-1)[rows] = np.append(steps, np.zeros(len(full) - len(steps)))
    return Int8Index(tiles, scales, len(vectors))
