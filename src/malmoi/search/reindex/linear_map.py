"""LinearMap: vectors of one model as vectors of another, by ridge regression on pairs.

With X the old vectors and Y the new ones of the same texts, both of length one and centred, the
map is W = (XᵀX + λI)⁻¹XᵀY. The penalty λ is the one with the least leave-one-out error, which
has a closed form: the residual of a pair divided by 1 - h, where h is its leverage. The same
residuals give the vector of each text by a map that has not seen it. Knows nothing of texts.
"""

from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float32Array, Float64Array
from malmoi.vectors import l2_normalize

PENALTIES = 10.0 ** np.arange(-4, 3.25, 0.25)  # relative to the mean squared singular value
NEAREST, MAX_QUERIES = 10, 1000


@dataclass(frozen=True, eq=False)
class LinearMap:
    """`l2_normalize((l2_normalize(old) - mean) @ weights + bias)`."""

    mean: Float32Array  # [old dim]
    weights: Float32Array  # [old dim, new dim]
    bias: Float32Array  # [new dim]

    def __call__(self, vectors: Float32Array) -> Float32Array:
        """Translate vectors [n, old dim] into unit vectors [n, new dim]; zeros stay zeros."""
        known = (vectors != 0).any(axis=1, keepdims=True)
        moved = (l2_normalize(vectors) - self.mean) @ self.weights + self.bias
        units: Float32Array = l2_normalize(np.where(known, moved, np.float32(0)))
        return units


@dataclass(frozen=True, eq=False)
class FittedMap:
    """A map, and the vectors of its own pairs by maps that have not seen them."""

    map: LinearMap
    held_out: Float32Array  # [pairs, new dim]


def fit_map(old: Float32Array, new: Float32Array) -> FittedMap:
    """Fit a map to pairs of vectors that are not zero."""
    x, y = (l2_normalize(rows.astype(np.float64)) for rows in (old, new))
    mean, bias = x.mean(axis=0), y.mean(axis=0)
    u, s, vt = np.linalg.svd(x - mean, full_matrices=False)
    squares, targets = s**2, u.T @ (y - bias)
    best, held_out = np.inf, y
    weights = np.zeros((x.shape[1], y.shape[1]))
    for penalty in PENALTIES * max(float(squares.mean()), 1e-12):
        shrink = squares / (squares + penalty)
        fitted = (u * shrink) @ targets + bias
        leverage = np.minimum((u**2) @ shrink + 1 / len(x), 1 - 1e-6)
        residuals = (y - fitted) / (1 - leverage)[:, np.newaxis]
        if (error := float(np.mean(residuals**2))) < best:
            best, held_out = error, y - residuals
            weights = vt.T @ ((s / (squares + penalty))[:, np.newaxis] * targets)
    linear = LinearMap(_single(mean), _single(weights), _single(bias))
    return FittedMap(linear, l2_normalize(_single(held_out)))


def neighbour_recall(true: Float32Array, translated: Float32Array) -> float:
    """The share of each true vector's nearest others that translated vectors give it too.

    Row i of both is the same text. The queries are true vectors, as those of a new model are.
    """
    count = min(NEAREST, len(true) - 1)
    if count < 1:
        return 0.0
    units, others = l2_normalize(true), l2_normalize(translated)
    shares = list[float]()
    for i in range(min(len(true), MAX_QUERIES)):
        wanted, kept = units @ units[i], others @ units[i]
        wanted[i] = kept[i] = -np.inf  # not itself
        near = [set(np.argpartition(-each, count - 1)[:count].tolist()) for each in (wanted, kept)]
        shares.append(len(near[0] & near[1]) / count)
    return float(np.mean(shares))


def _single(array: Float64Array) -> Float32Array:
    return np.ascontiguousarray(array, dtype=np.float32)
