"""Head: the layers between the vector of a text and the scores of labels; and standardization.

Vectors are standardized for training: each dimension has mean 0 and variance 1. The finished head
takes them as the encoder returns them. Knows nothing of texts.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from malmoi.arrays import Float32Array, Float64Array
from malmoi.errors import InvalidArgumentError

BLOCK = 4096  # vectors that are scored at once
MIN_SPREAD = 1e-5  # standard deviation, as a share of the mean, of a dimension that is not constant


class Layer(NamedTuple):
    """Weights [inputs, outputs] and biases [outputs]."""

    weights: Float32Array
    bias: Float32Array


@dataclass(frozen=True, eq=False)
class Head:
    """One layer is a logistic regression; between layers negative numbers become 0 (ReLU)."""

    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        sizes = [layer.weights.shape[1] for layer in self.layers]
        inputs = [layer.weights.shape[0] for layer in self.layers]
        if not self.layers or inputs[1:] != sizes[:-1]:
            raise InvalidArgumentError("the layers of the head do not fit each other")
        if any(layer.bias.shape != (size,) for layer, size in zip(self.layers, sizes, strict=True)):
            raise InvalidArgumentError("the biases of the head do not fit its weights")
        if not all(np.isfinite(array).all() for layer in self.layers for array in layer):
            raise InvalidArgumentError("the weights of the head are not all numbers")

    @property
    def dim(self) -> int:
        """The dimension of the vectors."""
        return len(self.layers[0].weights)

    @property
    def num_outputs(self) -> int:
        """The number of scores of a text."""
        return len(self.layers[-1].bias)

    def scores(self, vectors: Float32Array) -> Float64Array:
        """The scores of texts, [texts, outputs]."""
        scores = np.empty((len(vectors), self.num_outputs))
        *hidden, last = self.layers
        for first in range(0, len(vectors), BLOCK):
            rows = vectors[first : first + BLOCK]
            for layer in hidden:
                rows = np.maximum(rows @ layer.weights + layer.bias, 0)
            scores[first : first + BLOCK] = rows @ last.weights + last.bias.astype(np.float64)
        return scores


class Standardization(NamedTuple):
    """The mean and the standard deviation of each dimension; 1 where it is constant."""

    means: Float64Array
    deviations: Float64Array

    def apply(self, vectors: Float32Array) -> None:
        """Standardize vectors in place."""
        means, factors = self.means.astype(np.float32), (1 / self.deviations).astype(np.float32)
        for first in range(0, len(vectors), BLOCK):
            rows = vectors[first : first + BLOCK]
            rows -= means
            rows *= factors

    def undo(self, head: Head) -> Head:
        """A head of standardized vectors, for vectors as they are."""
        first, *others = head.layers
        weights = first.weights / self.deviations[:, np.newaxis]
        bias = first.bias - self.means @ weights
        own = Layer(weights.astype(np.float32), bias.astype(np.float32))
        return Head((own, *others))


def standardization(vectors: Float32Array) -> Standardization:
    """The means and standard deviations of vectors [texts, dim], without a copy of them all."""
    means = vectors.mean(axis=0, dtype=np.float64)
    squares = np.zeros(vectors.shape[1])
    for first in range(0, len(vectors), BLOCK):
        squares += ((vectors[first : first + BLOCK] - means) ** 2).sum(axis=0)
    deviations = np.sqrt(squares / len(vectors))
    if not np.isfinite(deviations).all():
        raise InvalidArgumentError("the vectors of some texts are not numbers")
    is_constant = deviations <= MIN_SPREAD * np.abs(means) + np.finfo(np.float32).tiny
    return Standardization(means, np.where(is_constant, 1.0, deviations))
