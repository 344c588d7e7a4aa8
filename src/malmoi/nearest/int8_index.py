"""An int8 copy of the unit vectors that finds the few rows that can be the nearest.

Each row is quantized to int8 with its own scale. The error of a dot product is at most half a
step per component of the direction, so rows that cannot be among the best are ruled out for
certain; the caller scores the others exactly. Knows nothing of words.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from malmoi.arrays import Float32Array, Int8Array, Int64Array
from malmoi.kernels.core.jit import in_parallel
from malmoi.kernels.nearest.int8_scores import LANES, score_int8_rows
from malmoi.nearest.top_k import safe_norms
from malmoi.vectors import Vectors

STEPS = 127
BLOCK_TILES = 128  # quantized at a time


@dataclass(frozen=True)
class Int8Index:
    """`tiles[t, j, l]` is component j of row `t * LANES + l`, in steps of `scales[t, l]`."""

    tiles: Int8Array
    scales: Float32Array
    rows: int

    def candidates(self, direction: Float32Array, k: int) -> Int64Array:
        """Rows that certainly include the k nearest to a direction, and few others."""
        scores = np.empty((len(self.tiles), LANES), dtype=np.float32)
        best = np.empty(len(self.tiles), dtype=np.float32)
        in_parallel(
            lambda first, last: score_int8_rows(
                self.tiles, self.scales, direction, scores, best, first, last
            ),
            len(self.tiles),
        )
        scores.reshape(-1)[self.rows :] = -np.inf  # lanes without a row
        best[-1] = scores[-1].max()
        # The k best tiles hold k rows at least as good as the worst of their best rows.
        least = (
            -np.inf
            if k > len(best)
            else np.partition(best, -k)[-k] - 2 * self._max_error(direction)
        )
        tiles = np.flatnonzero(best >= least)
        tile, lane = np.nonzero(scores[tiles] >= least)
        rows = tiles[tile] * LANES + lane
        return rows[rows < self.rows]

    def _max_error(self, direction: Float32Array) -> float:
        """Bound of the error of a product: half a step per component, and some for rounding."""
        return float(np.abs(direction).sum()) * self.largest_step * 0.505

    @cached_property
    def largest_step(self) -> float:
        """The largest of the scales."""
        return float(self.scales.max())


def build_int8_index(vectors: Vectors) -> Int8Index:
    """Quantize the vectors to int8, a block of tiles at a time."""
    count = -(-len(vectors) // LANES)
    tiles = np.zeros((count, vectors.dim, LANES), dtype=np.int8)
    scales = np.ones((count, LANES), dtype=np.float32)
    for first in range(0, count, BLOCK_TILES):
        rows = slice(first * LANES, (first + BLOCK_TILES) * LANES)
        norms = vectors.norms[rows]
        block = vectors.matrix[rows] / safe_norms(norms)[:, np.newaxis]
        steps = np.abs(block).max(axis=1) / STEPS
        steps[steps == 0] = 1
        full = np.zeros((-(-len(block) // LANES) * LANES, vectors.dim), dtype=np.float32)
        full[: len(block)] = np.rint(block / steps[:, np.newaxis])
        part = slice(first, first + len(full) // LANES)
        tiles[part] = full.reshape(-1, LANES, vectors.dim).transpose(0, 2, 1)
        scales.reshape(-1)[rows] = np.append(steps, np.zeros(len(full) - len(steps)))
    return Int8Index(tiles, scales, len(vectors))
