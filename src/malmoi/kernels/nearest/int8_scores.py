"""Dot products of one direction with int8 rows, which take a quarter of the memory traffic."""

import numpy as np

from malmoi.arrays import Float32Array, Int8Array
from malmoi.kernels.core.checks import ArrayOf, Within, checked
from malmoi.kernels.core.jit import jit_reassoc

LANES = 64  # rows side by side in a tile


@checked(
    tiles=ArrayOf(np.int8, "tiles", "dim", LANES),
    scales=ArrayOf(np.float32, "tiles", LANES),
    direction=ArrayOf(np.float32, "dim"),
    out=ArrayOf(np.float32, "tiles", LANES),
    best=ArrayOf(np.float32, "tiles"),
    first=Within("tiles"),
    last=Within("tiles"),
)
@jit_reassoc
def score_int8_rows(
    tiles: Int8Array,
    scales: Float32Array,
    direction: Float32Array,
    out: Float32Array,
    best: Float32Array,
    first: int,
    last: int,
) -> None:
    """out[t, l] = scales[t, l] * Σ_j direction[j] * tiles[t, j, l], for tiles [t, dim, LANES].

    best[t] is the highest of out[t].
    """
    sums = np.empty(LANES, dtype=np.float32)
    fours = len(direction) // 4 * 4
    for tile in range(first, last):
        sums[:] = 0
        for j in range(0, fours, 4):  # four at a time: fewer trips to memory for the sums
            a, b, c, d = direction[j], direction[j + 1], direction[j + 2], direction[j + 3]
            for lane in range(LANES):
                sums[lane] += (
                    a * np.float32(tiles[tile, j, lane])
                    + b * np.float32(tiles[tile, j + 1, lane])
                    + c * np.float32(tiles[tile, j + 2, lane])
                    + d * np.float32(tiles[tile, j + 3, lane])
                )
        for j in range(fours, len(direction)):
            for lane in range(LANES):
                sums[lane] += direction[j] * np.float32(tiles[tile, j, lane])
        highest = np.float32(-np.inf)
        for lane in range(LANES):
            out[tile, lane] = sums[lane] * scales[tile, lane]
            highest = max(highest, out[tile, lane])
        best[tile] = highest
