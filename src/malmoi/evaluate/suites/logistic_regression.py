"""Logistic regression with an L2 penalty, by L-BFGS: the linear probe of classification tasks.

The objective is scikit-learn's: ½ penalty ‖W‖² + Σ cross-entropy, the intercepts not penalized; the
penalty is 1/C, and 1 for probes. Two classes have one vector of weights, more have one each.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import BoolArray, Float32Array, Float64Array, Int64Array

MAX_ITERATIONS = 200
TOLERANCE = 1e-4  # of the largest component of the gradient, per text
MEMORY = 10  # pairs of steps and gradients that L-BFGS keeps
BLOCK, BLOCK_LOGITS = 4096, 1 << 22  # rows, and rows × outputs, that are multiplied at once
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
    return fit_linear(matrix.astype(np.float64), one_hot(classes, int(classes.max()) + 1))


def fit_linear(
    matrix: npt.NDArray[np.floating[Any]],
    targets: BoolArray,
    *,
    softmax: bool = True,
    penalty: float = 1.0,
    start: LinearProbe | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
) -> LinearProbe:
    """The minimum of ½ penalty ‖W‖² + Σ cross-entropy for vectors [n, dim] and targets.

    Products have the dtype of the vectors, which are not copied; sums of blocks are float64.
    Fitting begins with the weights of `start`, which is faster if they are similar.
    """
    outputs = targets.shape[1]
    block = max(1, min(BLOCK, BLOCK_LOGITS // outputs))

    def objective(flat: Float64Array) -> tuple[float, Float64Array]:
        table = flat.reshape(-1, outputs)  # the last row are the intercepts
        weights, gradient = table[:-1].astype(matrix.dtype), np.zeros_like(table)
        loss = 0.5 * penalty * float((table[:-1] ** 2).sum())
        for first in range(0, len(matrix), block):
            rows = matrix[first : first + block]
            logits: Float64Array = rows @ weights + table[-1]
            own, errors = cross_entropy(logits, targets[first : first + block], softmax=softmax)
            loss += own
            gradient[:-1] += rows.T @ errors.astype(matrix.dtype)
            gradient[-1] += errors.sum(axis=0)
        gradient[:-1] += penalty * table[:-1]
        return loss, gradient.ravel()

    begin = np.zeros((matrix.shape[1] + 1, outputs))
    if start is not None:
        begin[:-1], begin[-1] = start.weights, start.intercepts
    lowest = minimize(objective, begin.ravel(), tolerance * len(matrix), max_iterations)
    table = lowest.reshape(-1, outputs)
    return LinearProbe(table[:-1], table[-1])


def one_hot(classes: Int64Array, count: int) -> BoolArray:
    """Which output should be 1, [n, outputs]; two classes have one output."""
    targets: BoolArray = classes[:, np.newaxis] == (np.arange(count) if count > 2 else [1])
    return targets


def cross_entropy(
    logits: Float64Array, targets: BoolArray, *, softmax: bool = True
) -> tuple[float, Float64Array]:
    """The sum of cross-entropies and its gradient [n, outputs].

    Outputs share a softmax; a single one, and all without `softmax`, have a sigmoid each.
    """
    if logits.shape[1] == 1 or not softmax:
        loss = np.logaddexp(0, np.where(targets, -logits, logits)).sum()
        return float(loss), 0.5 * (1 + np.tanh(0.5 * logits)) - targets
    shifted = logits - logits.max(axis=1, keepdims=True)
    sums = np.exp(shifted).sum(axis=1, keepdims=True)
    loss = (np.log(sums)[:, 0] - shifted[targets]).sum()
    return float(loss), np.exp(shifted) / sums - targets


def minimize(
    objective: ObjectiveFunction,
    start: Float64Array,
    tolerance: float,
    max_iterations: int = MAX_ITERATIONS,
) -> Float64Array:
    """The minimum of a smooth function by L-BFGS with a backtracking line search."""
    point, (value, gradient) = start, objective(start)
    pairs: deque[tuple[Float64Array, Float64Array]] = deque(maxlen=MEMORY)
    for _ in range(max_iterations):
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
