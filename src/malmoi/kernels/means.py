"""CBOW: the mean of a window's rows against six targets at a time, as `tiles` has it for pairs.

    mean             the mean of hidden[contexts]
    scores[0, i]   = mean · outputs[targets[i]]
    moves            outputs[targets[i]] += steps[0, i] · mean, and every row of the window takes
                     on Σᵢ steps[0, i] · outputs[targets[i]], undivided as in word2vec

Plain loops; `vector_means` does the same faster where it can.
"""

import numpy as np

from malmoi.kernels.compiled import inlined
from malmoi.kernels.prefetch import prefetch_row
from malmoi.kernels.rows import mean_of_rows, move_rows
from malmoi.kernels.text_rows import Matrix
from malmoi.kernels.tiles import TILE, Rows


@inlined
def score_mean(
    hidden: Matrix, contexts: Rows, outputs: Matrix, targets: Rows, mean: Matrix, scores: Matrix
) -> None:
    """The mean of a window, and its score against each target."""
    mean_of_rows(hidden, contexts, mean)
    for i in range(TILE):
        y = outputs[targets[i]]
        total = np.float32(0)
        for k in range(len(mean)):
            total += mean[k] * y[k]
        scores[0, i] = total


@inlined
def move_mean(
    hidden: Matrix,
    contexts: Rows,
    outputs: Matrix,
    targets: Rows,
    coming: Rows,
    mean: Matrix,
    steps: Matrix,
    move: Matrix,
) -> None:
    """The window and its targets move, both from what they were; `move` is room for a row.

    Meanwhile the rows of the six targets that are `coming` are brought near.
    """
    for k in range(len(mean)):
        move[k] = 0
    for i in range(TILE):
        prefetch_row(outputs, coming[i])
        y, step = outputs[targets[i]], steps[0, i]
        for k in range(len(mean)):
            move[k] += step * y[k]
    for i in range(TILE):
        y, step = outputs[targets[i]], steps[0, i]
        for k in range(len(mean)):
            y[k] += step * mean[k]
    move_rows(hidden, contexts, move)
