"""Ridge regression from one encoder's vectors to another's, with its penalty chosen on held-out
rows. Knows nothing of texts.
"""

from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float32Array, Float64Array

PENALTIES = tuple(10.0**power for power in range(-3, 4))
HELD_OUT_SHARE = 10  # one row in so many chooses the penalty
MIN_ROWS = 20


@dataclass(frozen=True, eq=False)
class RidgeMap:
    """y ≈ (x − mean of x) W + mean of y; `r2` is 1 − squared error / variance on held-out rows."""

    weights: Float64Array  # [dim of x, dim of y]
    x_mean: Float64Array
    y_mean: Float64Array
    penalty: float
    r2: float

    def __call__(self, rows: Float32Array) -> Float32Array:
        """Map rows [n, dim of x] to [n, dim of y]."""
        mapped = (rows - self.x_mean) @ self.weights + self.y_mean
        return mapped.astype(np.float32)


def fit_ridge(x: Float32Array, y: Float32Array, penalty: float, r2: float = np.nan) -> RidgeMap:
    """Minimize ‖y − xW − b‖² + penalty · ‖W‖²; the intercept b is not penalized."""
    x_mean, y_mean = (rows.mean(axis=0, dtype=np.float64) for rows in (x, y))
    centred = x - x_mean
    gram = centred.T @ centred + penalty * np.eye(x.shape[1])
    weights = np.linalg.solve(gram, centred.T @ (y - y_mean))
    return RidgeMap(weights, x_mean, y_mean, penalty, r2)


def choose_ridge(x: Float32Array, y: Float32Array, seed: int = 0) -> RidgeMap:
    """The map of all rows with the penalty that is best on one row in ten, and its R² there."""
    order = np.random.default_rng(seed).permutation(len(x))
    held, rest = order[::HELD_OUT_SHARE], np.delete(order, np.s_[::HELD_OUT_SHARE])
    scores = {
        penalty: r_squared(fit_ridge(x[rest], y[rest], penalty)(x[held]), y[held])
        for penalty in PENALTIES
    }
    best = max(scores, key=lambda penalty: scores[penalty])
    return fit_ridge(x, y, best, scores[best])


def r_squared(vectors: Float32Array, targets: Float32Array) -> float:
    """1 − mean squared error / variance of the targets; 0 is as good as always their mean."""
    error = float(np.square(vectors - targets, dtype=np.float64).mean())
    variance = float(np.square(targets - targets.mean(axis=0), dtype=np.float64).mean())
    return 1 - error / variance if variance > 0 else -np.inf
