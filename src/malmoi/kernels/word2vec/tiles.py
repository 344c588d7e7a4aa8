"""A window of words against six targets at a time: scores, steps and moves.

    scores[j, i] = hidden[contexts[j]] · outputs[targets[i]]
    steps[j, i]  = rate · weights[i] · (goals[i] − σ(scores[j, i]))
    moves          hidden[contexts[j]] += Σᵢ steps[j, i] · outputs[targets[i]], and the other
                   way round, both from what they were

That is one step of gradient descent on the log-likelihood of the goals (Mikolov et al. 2013,
eq. 4), for all pairs of a window together: a small matrix product instead of many dot
products. Plain loops; `vector_tiles` does the first and the last faster where it can.
"""

import numpy as np

from malmoi.arrays import Float32Array, Int32Array
from malmoi.kernels.core.jit import jit_inline
from malmoi.kernels.core.prefetch import prefetch_row

TILE = 6  # targets at a time: a word and five negatives
LANES = 8  # places for them: a vector of floats
FARTHEST = 16.0  # scores are cut there: σ(16) is 1 − 1e-7

# tanh(x / 2) / 2 is x / 2 times the quotient of these polynomials in (x / 2)², highest first;
# fitted by least squares, to 3e-7.
ABOVE = (5.47063314e-06, 1.45181808e-03, 6.44019464e-02, 4.99999519e-01)
BELOW = (2.30815033e-07, 2.32121176e-04, 2.36184756e-02, 4.62133813e-01, 1.0)


@jit_inline
def score_tile(
    hidden: Float32Array,
    contexts: Int32Array,
    outputs: Float32Array,
    targets: Int32Array,
    scores: Float32Array,
) -> None:
    """Each context against each target."""
    for j in range(len(contexts)):
        x = hidden[contexts[j]]
        for i in range(TILE):
            y = outputs[targets[i]]
            total = np.float32(0)
            for k in range(hidden.shape[1]):
                total += x[k] * y[k]
            scores[j, i] = total


@jit_inline
def step_tile(
    scores: Float32Array, count: int, goals: Float32Array, weights: Float32Array, rate: np.float32
) -> None:
    """Scores become steps."""
    for j in range(count):
        for i in range(LANES):
            scores[j, i] = rate * weights[i] * (goals[i] - sigmoid(scores[j, i]))


@jit_inline
def move_tile(
    hidden: Float32Array,
    contexts: Int32Array,
    outputs: Float32Array,
    targets: Int32Array,
    coming: Int32Array,
    steps: Float32Array,
    moves: Float32Array,
) -> None:
    """Contexts and targets move towards or away from each other; `moves` is room for six rows.

    A word that is there twice moves again from where it then is. Meanwhile the rows of the six
    targets that are `coming` are brought near: a few lines at a time, or all would wait in a queue.
    """
    for i in range(TILE):
        prefetch_row(outputs, coming[i])
    for i in range(TILE):
        for k in range(hidden.shape[1]):
            moves[i, k] = 0
    for j in range(len(contexts)):
        x = hidden[contexts[j]]
        for i in range(TILE):
            step = steps[j, i]
            for k in range(hidden.shape[1]):
                moves[i, k] += step * x[k]
        for i in range(TILE):
            y, step = outputs[targets[i]], steps[j, i]
            for k in range(hidden.shape[1]):
                x[k] += step * y[k]
    for i in range(TILE):
        y = outputs[targets[i]]
        for k in range(hidden.shape[1]):
            y[k] += moves[i, k]


@jit_inline
def sigmoid(score: np.float32) -> np.float32:
    """1 / (1 + exp(−x)), which is 1/2 + tanh(x / 2) / 2, without what vectors cannot compute."""
    half = np.float32(0.5) * min(max(score, np.float32(-FARTHEST)), np.float32(FARTHEST))
    square = half * half
    above = below = np.float32(0)
    for coefficient in ABOVE:
        above = above * square + np.float32(coefficient)
    for coefficient in BELOW:
        below = below * square + np.float32(coefficient)
    return np.float32(0.5) + half * above / below


@jit_inline
def tile_loss(
    scores: Float32Array, count: int, goals: Float32Array, weights: Float32Array
) -> float:
    """−log of the probability of the goals."""
    loss = 0.0
    for j in range(count):
        for i in range(TILE):
            if weights[i] > 0:
                signed = (2 * goals[i] - 1) * scores[j, i]
                loss += np.log1p(np.exp(-abs(signed))) + max(-signed, 0.0)
    return loss
