"""The scalar mix of layers (Peters et al. 2018, eq. 1) and a linear head, learned together.

A text's vector is γ Σ softmax(w)ⱼ hⱼ, where hⱼ is its vector in layer j; the head is a logistic
regression. Both are fitted at once by L-BFGS, with an L2 penalty on the head. The larger γ, the
weaker this penalty, so that the training loss always prefers a larger one: γ is chosen on texts
that were not fitted. For the same reason a layer of long vectors would be preferred to one of short
vectors, so layers are fitted centred and at equal lengths, which L-BFGS also solves faster, and the
result is converted to the layers as they are.
Knows nothing of texts or models.
"""

from dataclasses import dataclass, replace
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

SCALES = (1.0, 3.0, 10.0, 30.0, 100.0)  # γ of layers of length 1, to choose from
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
    means = rows.layers.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(rows.layers - means, axis=2).mean(axis=1)
    lengths = np.where(lengths > 0, lengths, np.float32(1))
    even = rows._replace(layers=(rows.layers - means) / lengths[:, np.newaxis, np.newaxis])
    kept = np.delete(np.arange(len(rows.classes)), held_out)
    train, test = even.take(kept), even.take(held_out)
    probes: list[MixedProbe] = []
    for scale in SCALES:
        probes.append(fit_mix(train, scale, *probes[-1:]))
    best = min(probes, key=lambda probe: probe.loss(test, count))
    return _converted(fit_mix(even, best.scale, best), means, lengths)


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


def _converted(probe: MixedProbe, means: Float32Array, lengths: Float32Array) -> MixedProbe:
    """A probe of centred layers of length 1, for the layers as they were."""
    shares = softmax(probe.weights.tolist(), len(lengths)) / lengths
    scale = probe.scale * float(shares.sum())
    moved = MixedProbe(probe.weights - np.log(lengths), scale, probe.head)
    shift = moved.mixed(means) @ probe.head.weights  # [1, outputs]
    head = LinearProbe(probe.head.weights, probe.head.intercepts - shift[0])
    return replace(moved, head=head)
