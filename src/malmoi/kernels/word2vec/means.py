"""CBOW: the mean of a window against six targets at a time, as `tiles` has it for pairs.

    scores[0, i]   = mean · outputs[targets[i]]
    move          += Σᵢ steps[0, i] · outputs[targets[i]], of the targets as they were
    outputs[targets[i]] += steps[0, i] · mean

As in word2vec, the mean stays as it is until all targets of a window are done; then every row of
the window is moved by all of `move`, undivided. Plain loops; `vector_means` does the same faster
where it can.
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
    """The mean of a window against each target."""
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
    coming: Int32Array,
    steps: Float32Array,
    move: Float32Array,
) -> None:
    """Targets move, and `move` grows by what they move the window by.

    Meanwhile the rows of the six targets that are `coming` are brought near.
    """
    for i in range(TILE):
        prefetch_row(outputs, coming[i])
        y, step = outputs[targets[i]], steps[0, i]
        for k in range(len(mean)):
            move[k] += step * y[k]
    for i in range(TILE):
        y, step = outputs[targets[i]], steps[0, i]
        for k in range(len(mean)):
            y[k] += step * mean[k]
