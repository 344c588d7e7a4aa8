"""Calibration: probabilities that are as right as they say.

Temperature scaling (Guo et al. 2017): scores are divided by the number that makes the labels of
held-out texts most probable. Predictions do not change.
"""

import numpy as np

from malmoi.arrays import BoolArray, Float64Array

SMALLEST, LARGEST, STEPS = 0.05, 20.0, 60
BINS = 15  # of the expected calibration error
PRIOR = 1.0  # of ½ log²T: so much evidence from no text at all keeps T near 1


def find_temperature(scores: Float64Array, targets: BoolArray, *, softmax: bool) -> float:
    """The temperature for scores [texts, outputs] of held-out texts, by golden section search."""
    if not len(scores):
        return 1.0

    def loss(log_temperature: float) -> float:
        own = cross_entropy(scores / np.exp(log_temperature), targets, softmax=softmax)
        return own + 0.5 * PRIOR * log_temperature**2

    low, high, golden = np.log(SMALLEST), np.log(LARGEST), (5**0.5 - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = loss(left), loss(right)
    for _ in range(STEPS):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = loss(right)
    return float(np.exp((low + high) / 2))


def cross_entropy(scores: Float64Array, targets: BoolArray, *, softmax: bool) -> float:
    """The sum over texts of −log probability of the targets."""
    if not softmax:
        return float(np.logaddexp(0, np.where(targets, -scores, scores)).sum())
    highest = scores.max(axis=1, keepdims=True)
    sums = np.log(np.exp(scores - highest).sum(axis=1)) + highest[:, 0]
    return float((sums - scores[targets]).sum())


def to_probabilities(scores: Float64Array, *, softmax: bool) -> Float64Array:
    """The softmax of scores [texts, outputs], or the sigmoid of each."""
    if not softmax:
        sigmoid: Float64Array = 0.5 * (1 + np.tanh(0.5 * scores))
        return sigmoid
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Float64Array = powers / powers.sum(axis=1, keepdims=True)
    return shares


def calibration_error(confidence: Float64Array, right: BoolArray) -> float:
    """The expected calibration error: |mean confidence − accuracy|, averaged over bins."""
    bins = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    sizes = np.bincount(bins, minlength=BINS)
    gaps = np.bincount(bins, confidence, BINS) - np.bincount(bins, right, BINS)
    return float(np.abs(gaps).sum() / max(1, sizes.sum()))
