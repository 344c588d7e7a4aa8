"""CBOW: the mean of a window and six targets at a time, as `tiles` does for pairs.

    scores[0, i]   = mean · outputs[targets[i]]
    move          += Σᵢ steps[0, i] · outputs[targets[i]], from the old values
    outputs[targets[i]] += steps[0, i] · mean

As in word2vec.c, the mean does not change until all targets of a window are done; then every row
of the window gets the whole `move`, undivided. These are plain loops; `simd_means` is the SIMD
version.
"""

import numpy as np

from malmoi.arrays import Float32Array, Int32Array
from malmoi.kernels.core.jit import jit_inline
from malmoi.kernels.core.prefetch import prefetch_row
from malmoi.kernels.word2vec.tiles import TILE


@jit_inline
def score_mean(
    mean: Float32Array, outputs: Float32Array, targets: Int32Array, scores: Float32Array
) -> None:
    """Compute the dot product of a window's mean with each target."""
    for i in range(TILE):
        y = outputs[targets[i]]
        total = np.float32(0)
        for k in range(len(mean)):
            total += mean[k] * y[k]
        scores[0, i] = total


@jit_inline
def move_targets(
    mean: Float32Array,
    outputs: Float32Array,
    targets: Int32Array,
    next_targets: Int32Array,
    steps: Float32Array,
    move: Float32Array,
) -> None:
    """Update the targets and add their gradient to `move`; prefetches the `next_targets`."""
    for i in range(TILE):
        prefetch_row(outputs, next_targets[i])
        y, step = outputs[targets[i]], steps[0, i]
        for k in range(len(mean)):
            move[k] += step * y[k]
    for i in range(TILE):
        y, step = outputs[targets[i]], steps[0, i]
        for k in range(len(mean)):
            y[k] += step * mean[k]
