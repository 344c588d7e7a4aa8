"""A window of words and six targets at a time: scores, gradient steps and updates.

    scores[j, i] = hidden[contexts[j]] · outputs[targets[i]]
    steps[j, i]  = rate · weights[i] · (labels[i] − σ(scores[j, i]))
    updates      hidden[contexts[j]] += Σᵢ steps[j, i] · outputs[targets[i]]
                 outputs[targets[i]] += Σⱼ steps[j, i] · hidden[contexts[j]], from the old values

That is one step of gradient descent on the log-likelihood of the labels (Mikolov et al. 2013,
eq. 4), for all pairs of a window together: a small matrix product instead of many dot
products. These are plain loops; `simd_tiles` is the SIMD version.
"""

import numpy as np

from malmoi.arrays import Float32Array, Int32Array
from malmoi.kernels.core.jit import jit_inline
from malmoi.kernels.core.prefetch import prefetch_row

TILE = 6  # targets at a time: a word and five negative samples
LANES = 8  # floats of the SIMD vector that holds a tile
MAX_SCORE = 16.0  # larger scores are clipped: σ(16) is 1 − 1e-7

# tanh(x / 2) / 2 is x / 2 times the quotient of these polynomials in (x / 2)², highest degree
# first; a least-squares fit with an error of 3e-7.
TANH_NUMERATOR = (5.47063314e-06, 1.45181808e-03, 6.44019464e-02, 4.99999519e-01)
TANH_DENOMINATOR = (2.30815033e-07, 2.32121176e-04, 2.36184756e-02, 4.62133813e-01, 1.0)


@jit_inline
def score_tile(
    hidden: Float32Array,
    contexts: Int32Array,
    outputs: Float32Array,
    targets: Int32Array,
    scores: Float32Array,
) -> None:
    """Compute the dot product of each context with each target."""
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
    scores: Float32Array, count: int, labels: Float32Array, weights: Float32Array, rate: np.float32
) -> None:
    """Replace the scores by gradient steps."""
    for j in range(count):
        for i in range(LANES):
            scores[j, i] = rate * weights[i] * (labels[i] - sigmoid(scores[j, i]))


@jit_inline
def move_tile(
    hidden: Float32Array,
    contexts: Int32Array,
    outputs: Float32Array,
    targets: Int32Array,
    next_targets: Int32Array,
    steps: Float32Array,
    moves: Float32Array,
) -> None:
    """Update contexts and targets; `moves` is a buffer of six rows.

    A word that occurs twice is updated twice, one after the other. Meanwhile the rows of the six
    `next_targets` are prefetched, a few cache lines at a time so that the queue does not fill.
    """
    for i in range(TILE):
        prefetch_row(outputs, next_targets[i])
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
    """1 / (1 + exp(−x)) = 1/2 + tanh(x / 2) / 2, by a rational function that SIMD can compute."""
    half = np.float32(0.5) * min(max(score, np.float32(-MAX_SCORE)), np.float32(MAX_SCORE))
    square = half * half
    numerator = denominator = np.float32(0)
    for coefficient in TANH_NUMERATOR:
        numerator = numerator * square + np.float32(coefficient)
    for coefficient in TANH_DENOMINATOR:
        denominator = denominator * square + np.float32(coefficient)
    return np.float32(0.5) + half * numerator / denominator


@jit_inline
def tile_loss(
    scores: Float32Array, count: int, labels: Float32Array, weights: Float32Array
) -> float:
    """Return −log of the probability of the labels."""
    loss = 0.0
    for j in range(count):
        for i in range(TILE):
            if weights[i] > 0:
                signed = (2 * labels[i] - 1) * scores[j, i]
                loss += np.log1p(np.exp(-abs(signed))) + max(-signed, 0.0)
    return loss
