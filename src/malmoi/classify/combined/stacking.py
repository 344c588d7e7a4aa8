"""Stacking (Wolpert 1992): a logistic regression on the scores of several classifiers.

The score of an output is Σ weight · score over the parts, plus a bias. Knows nothing of texts.
"""

from typing import NamedTuple

import numpy as np

from malmoi.arrays import BoolArray, Float64Array
from malmoi.classify.base.calibration import find_temperature
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.suites.logistic_regression import TOLERANCE, cross_entropy, minimize

PENALTY = 1.0  # of ½ Σ (weight − 1/parts)² + ½ Σ bias²: without texts, parts have equal weights


class Stack(NamedTuple):
    """Weights [parts], and biases [outputs]."""

    weights: Float64Array
    bias: Float64Array

    def scores(self, parts: Float64Array) -> Float64Array:
        """The scores of texts, [texts, outputs], from those of parts [parts, texts, outputs]."""
        scores: Float64Array = np.tensordot(self.weights, parts, axes=1) + self.bias
        return scores

    def check(self, parts: int, outputs: int) -> None:
        """Raise `InvalidArgumentError` unless these are the weights of so many parts."""
        if self.weights.shape != (parts,) or self.bias.shape != (outputs,):
            raise InvalidArgumentError("the weights do not fit the parts and labels")
        if not (np.isfinite(self.weights).all() and np.isfinite(self.bias).all()):
            raise InvalidArgumentError("its weights are not all numbers")


def fit_stack(parts: Float64Array, targets: BoolArray, *, softmax: bool) -> Stack:
    """Weights for calibrated scores [parts, texts, outputs] of texts that were held out."""
    count, texts, outputs = parts.shape
    prior = np.concatenate([np.full(count, 1 / count), np.zeros(outputs)])
    if not texts:
        return Stack(prior[:count], prior[count:])

    def objective(flat: Float64Array) -> tuple[float, Float64Array]:
        stack = Stack(flat[:count], flat[count:])
        loss, errors = cross_entropy(stack.scores(parts), targets, softmax=softmax)
        slopes = np.concatenate([np.tensordot(parts, errors, axes=2), errors.sum(axis=0)])
        away = flat - prior
        return loss + 0.5 * PENALTY * float(away @ away), slopes + PENALTY * away

    lowest = minimize(objective, prior, TOLERANCE * texts)
    return Stack(lowest[:count], lowest[count:])


def temperatures(parts: Float64Array, targets: BoolArray, *, softmax: bool) -> Float64Array:
    """The temperature of each part for scores [parts, texts, outputs] of held-out texts."""
    return np.array([find_temperature(scores, targets, softmax=softmax) for scores in parts])
