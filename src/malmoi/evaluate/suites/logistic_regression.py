"""Logistic regression with an L2 penalty, by L-BFGS: the linear probe of classification tasks.

The objective is scikit-learn's with C = 1: ½‖W‖² + Σ cross-entropy, the intercepts not penalized;
two classes have one vector of weights, more have one each.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import BoolArray, Float32Array, Float64Array, Int64Array

MAX_ITERATIONS = 200
TOLERANCE = 1e-4  # of the largest component of the gradient, per text
MEMORY = 10  # pairs of steps and gradients that L-BFGS keeps
ARMIJO, SHRINK, MAX_HALVINGS = 1e-4, 0.5, 30

ObjectiveFunction = Callable[[Float64Array], tuple[float, Float64Array]]  # value and gradient


@dataclass(frozen=True, eq=False)
class LinearProbe:
    """Weights [dim, outputs] and intercepts [outputs]; one output where there are two classes."""

    weights: Float64Array
    intercepts: Float64Array

    def logits(self, matrix: Float32Array) -> Float64Array:
        """The logits of each row, [n, outputs]."""
        logits: Float64Array = matrix.astype(np.float64) @ self.weights + self.intercepts
        return logits

    def predict(self, matrix: Float32Array) -> Int64Array:
        """The class of each row."""
        logits = self.logits(matrix)
        if logits.shape[1] == 1:
            return np.where(logits[:, 0] > 0, 1, 0)
        classes: Int64Array = logits.argmax(axis=1)
        return classes


def fit_probe(matrix: Float32Array, classes: Int64Array) -> LinearProbe:
    """The probe that predicts classes, numbered from 0 without gaps, from vectors [n, dim]."""
    targets = one_hot(classes, int(classes.max()) + 1)
    outputs = targets.shape[1]
    rows = np.hstack([matrix.astype(np.float64), np.ones((len(matrix), 1))])

    def objective(flat: Float64Array) -> tuple[float, Float64Array]:
        table = flat.reshape(-1, outputs)  # the last row are the intercepts
        loss, errors = cross_entropy(rows @ table, targets)
        penalized = table.copy()
        penalized[-1] = 0
        gradient = rows.T @ errors + penalized
        return loss + 0.5 * float((penalized**2).sum()), gradient.ravel()

    start = np.zeros(rows.shape[1] * outputs)
    table = minimize(objective, start, TOLERANCE * len(rows)).reshape(-1, outputs)
    return LinearProbe(table[:-1], table[-1])


def one_hot(classes: Int64Array, count: int) -> BoolArray:
    """Which output should be 1, [n, outputs]; two classes have one output."""
    targets: BoolArray = classes[:, np.newaxis] == (np.arange(count) if count > 2 else [1])
    return targets


def cross_entropy(logits: Float64Array, targets: BoolArray) -> tuple[float, Float64Array]:
    """The sum of cross-entropies and its gradient [n, outputs]."""
    if logits.shape[1] == 1:
        loss = np.logaddexp(0, np.where(targets, -logits, logits)).sum()
        return float(loss), 0.5 * (1 + np.tanh(0.5 * logits)) - targets
    shifted = logits - logits.max(axis=1, keepdims=True)
    sums = np.exp(shifted).sum(axis=1, keepdims=True)
    loss = (np.log(sums)[:, 0] - shifted[targets]).sum()
    return float(loss), np.exp(shifted) / sums - targets


def minimize(objective: ObjectiveFunction, start: Float64Array, tolerance: float) -> Float64Array:
    """The minimum of a smooth function by L-BFGS with a backtracking line search."""
    point, (value, gradient) = start, objective(start)
    pairs: deque[tuple[Float64Array, Float64Array]] = deque(maxlen=MEMORY)
    for _ in range(MAX_ITERATIONS):
        if np.abs(gradient).max() <= tolerance:
            break
        direction = -_inverse_hessian_times(gradient, pairs)
        slope = float(direction @ gradient)
        step = 1.0 if pairs else 1 / max(1.0, float(np.linalg.norm(gradient)))
        for _ in range(MAX_HALVINGS):
            moved = point + step * direction
            next_value, next_gradient = objective(moved)
            if next_value <= value + ARMIJO * step * slope:
                break
            step *= SHRINK
        else:
            break  # no step improves on rounding errors
        change = moved - point, next_gradient - gradient
        if change[0] @ change[1] > 0:
            pairs.append(change)
        point, value, gradient = moved, next_value, next_gradient
    return point


def _inverse_hessian_times(
    gradient: Float64Array, pairs: "deque[tuple[Float64Array, Float64Array]]"
) -> Float64Array:
    """The two loops of L-BFGS (Nocedal 1980)."""
    result, factors = gradient.copy(), []
    for step, change in reversed(pairs):
        factor = float(step @ result) / float(step @ change)
        result -= factor * change
        factors.append(factor)
    if pairs:
        step, change = pairs[-1]
        result *= float(step @ change) / float(change @ change)
    for (step, change), factor in zip(pairs, reversed(factors), strict=True):
        result += step * (factor - float(change @ result) / float(step @ change))
    return result
