"""Dot products of one direction with rows kept as bytes: a first look, a quarter of the memory."""

import numpy as np
import numpy.typing as npt

from malmoi.kernels.compiled import compiled
from malmoi.kernels.text_rows import Matrix

LANES = 64  # rows side by side in a tile
Tiles = npt.NDArray[np.int8]


@compiled
def screen(
    tiles: Tiles,
    scales: Matrix,
    direction: Matrix,
    out: Matrix,
    best: Matrix,
    first: int,
    last: int,
) -> None:
    """out[t, l] = scales[t, l] * Σ_j direction[j] * tiles[t, j, l], for tiles [t, dim, LANES].

    best[t] is the highest of out[t].
    """
    sums = np.empty(LANES, dtype=np.float32)
    for tile in range(first, last):
        sums[:] = 0
        for j in range(len(direction)):
            weight = direction[j]
            for lane in range(LANES):
                sums[lane] += weight * np.float32(tiles[tile, j, lane])
        highest = np.float32(-np.inf)
        for lane in range(LANES):
            out[tile, lane] = sums[lane] * scales[tile, lane]
            highest = max(highest, out[tile, lane])
        best[tile] = highest
