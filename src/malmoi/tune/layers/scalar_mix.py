"""The scalar mix of layers (Peters et al. 2018, eq. 1) and a linear head, learned together.

A text's vector is γ Σ softmax(w)ⱼ hⱼ, where hⱼ is its vector in layer j; the head is a logistic
regression. Both are fitted at once by L-BFGS, with an L2 penalty on the head. The larger γ, the
weaker this penalty, so that the training loss always prefers a larger one: γ is chosen on texts
that were not fitted. Knows nothing of texts or models.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int64Array
from malmoi.encode.pooling.layer_pooling import pool_layers, softmax
from malmoi.evaluate.suites.logistic_regression import (
    TOLERANCE,
    LinearProbe,
    cross_entropy,
    minimize,
    one_hot,
)

NORMS = (1.0, 3.0, 10.0, 30.0, 100.0)  # mean lengths of mixed vectors, to choose γ from
WEIGHT_PENALTY = 1.0  # of ½‖w‖², which keeps the weight of a useless layer finite


class LayerRows(NamedTuple):
    """Vectors of texts in each layer, [layers, texts, dim], and the classes of the texts."""

    layers: Float32Array
    classes: Int64Array

    def take(self, rows: Int64Array) -> Self:
        """Some of the texts."""
        return self._replace(layers=self.layers[:, rows], classes=self.classes[rows])

    def only(self, layer: int) -> Self:
        """One layer alone."""
        return self._replace(layers=self.layers[layer : layer + 1])

    def averaged(self) -> Self:
        """The mean of all layers as a single layer."""
        return self._replace(layers=self.layers.mean(axis=0, keepdims=True))


@dataclass(frozen=True, eq=False)
class MixedProbe:
    """Weights of layers before the softmax [layers], the scale γ, and a head on mixed vectors."""

    weights: Float64Array
    scale: float
    head: LinearProbe

    def mixed(self, layers: Float32Array) -> Float32Array:
        """The vector of each text, [texts, dim]."""
        weights = self.weights.tolist()
        return pool_layers(list(layers), "weighted", weights=weights, scale=self.scale)

    def loss(self, rows: LayerRows, classes: int) -> float:
        """The mean cross-entropy of texts with one of so many classes."""
        logits = self.head.logits(self.mixed(rows.layers))
        return cross_entropy(logits, one_hot(rows.classes, classes))[0] / len(rows.classes)

    def predict(self, layers: Float32Array) -> Int64Array:
        """The class of each text."""
        return self.head.predict(self.mixed(layers))


def learn_mix(rows: LayerRows, held_out: Int64Array) -> MixedProbe:
    """The mix and head of all texts, with the γ that suits the held-out ones best."""
    count = int(rows.classes.max()) + 1
    kept = np.delete(np.arange(len(rows.classes)), held_out)
    train, test = rows.take(kept), rows.take(held_out)
    probes: list[MixedProbe] = []
    for scale in _scales(rows.layers):
        probes.append(fit_mix(train, scale, *probes[-1:]))
    best = min(probes, key=lambda probe: probe.loss(test, count))
    return fit_mix(rows, best.scale, best)


def fit_mix(rows: LayerRows, scale: float, like: MixedProbe | None = None) -> MixedProbe:
    """The mix and head for a given γ; classes are numbered from 0 without gaps.

    Fitting begins with the outputs of the probe `like`, which is faster if they are similar.
    """
    targets = one_hot(rows.classes, int(rows.classes.max()) + 1)
    (count, texts, dim), outputs = rows.layers.shape, targets.shape[1]

    def objective(flat: Float64Array) -> tuple[float, Float64Array]:
        weights, table = flat[:count], flat[count:].reshape(dim + 1, outputs)
        shares = softmax(weights.tolist(), count)
        mixed = np.tensordot(shares * np.float32(scale), rows.layers, axes=1)
        head, intercepts = table[:-1], table[-1]
        loss, errors = cross_entropy(mixed @ head + intercepts, targets)
        slopes = np.empty_like(table)
        slopes[:-1], slopes[-1] = mixed.T @ errors + head, errors.sum(axis=0)
        by_vector = (errors @ head.T).astype(np.float32) * np.float32(scale)  # [texts, dim]
        by_share = np.array([np.vdot(layer, by_vector) for layer in rows.layers], np.float64)
        by_weight = shares * (by_share - shares @ by_share) + WEIGHT_PENALTY * weights
        penalty = 0.5 * (float((head**2).sum()) + WEIGHT_PENALTY * float(weights @ weights))
        return loss + penalty, np.concatenate([by_weight, slopes.ravel()])

    start = np.zeros(count + (dim + 1) * outputs)
    if like is not None:
        head = like.head.weights * (like.scale / scale)
        start = np.concatenate([like.weights, head.ravel(), like.head.intercepts])
    best = minimize(objective, start, TOLERANCE * texts)
    table = best[count:].reshape(dim + 1, outputs)
    return MixedProbe(best[:count], scale, LinearProbe(table[:-1], table[-1]))


def _scales(layers: Float32Array) -> Iterator[float]:
    """The γ that give the mean vector of a text each of the lengths."""
    lengths = np.linalg.norm(layers.mean(axis=0), axis=1)
    mean = float(lengths.mean(dtype=np.float64)) or 1.0
    return (norm / mean for norm in NORMS)
