"""Trains a head with one hidden layer: ReLU, dropout, minibatches and AdamW, with NumPy alone.

AdamW (Loshchilov and Hutter 2019) shrinks weights apart from the gradient's steps. The learning
rate falls to 0 in a straight line.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from malmoi.arrays import BoolArray, Float32Array
from malmoi.classify.encoders.head import Head, Layer
from malmoi.evaluate.suites.logistic_regression import cross_entropy

MIN_BATCH, MAX_BATCH, BATCHES = 16, 256, 16  # texts; of few, an epoch has so many batches
MIN_EPOCHS, MIN_STEPS = 8, 1000
LEARNING_RATE, DROPOUT = 2e-3, 0.3
BETAS, EPSILON = (0.9, 0.999), 1e-8


@dataclass(eq=False)
class Adam:
    """Moments of the gradients of some arrays, which are changed in place."""

    arrays: Sequence[Float32Array]
    decay: float  # of matrices
    steps: int = 0
    means: list[Float32Array] = field(init=False)
    squares: list[Float32Array] = field(init=False)

    def __post_init__(self) -> None:
        self.means = [np.zeros_like(array) for array in self.arrays]
        self.squares = [np.zeros_like(array) for array in self.arrays]

    def step(self, gradients: Sequence[Float32Array], rate: float) -> None:
        """Move the arrays against their gradients."""
        self.steps += 1
        first, second = BETAS
        rates = rate / (1 - first**self.steps), 1 / (1 - second**self.steps)
        state = zip(self.arrays, gradients, self.means, self.squares, strict=True)
        for array, gradient, mean, square in state:
            if array.ndim == 2:
                array *= np.float32(1 - rate * self.decay)
            mean += np.float32(1 - first) * (gradient - mean)
            square += np.float32(1 - second) * (gradient * gradient - square)
            root = np.sqrt(square * np.float32(rates[1])) + np.float32(EPSILON)
            array -= np.float32(rates[0]) * mean / root


@dataclass(frozen=True, kw_only=True)
class MlpTrainer:
    """What a head with a hidden layer is trained with."""

    softmax: bool
    hidden: int
    seed: int

    def __call__(
        self, vectors: Float32Array, targets: BoolArray, decay: float, like: Head | None = None
    ) -> Head:
        """A head for standardized vectors [texts, dim]; `like` is not used."""
        random = np.random.default_rng(self.seed)
        layers = _initial(vectors.shape[1], self.hidden, targets, random)
        adam = Adam([array for layer in layers for array in layer], decay)
        texts = len(vectors)
        batch = max(MIN_BATCH, min(MAX_BATCH, texts // BATCHES))
        starts = range(0, texts, batch)
        epochs = max(MIN_EPOCHS, -(-MIN_STEPS // len(starts)))
        total, done = epochs * len(starts), 0
        for _ in range(epochs):
            order = random.permutation(texts)
            for start in starts:
                rows = order[start : start + batch]
                keep = random.random((len(rows), self.hidden), np.float32) >= DROPOUT
                mask = keep.astype(np.float32) / np.float32(1 - DROPOUT)
                adam.step(
                    self._gradients(layers, vectors[rows], targets[rows], mask),
                    LEARNING_RATE * (1 - done / total),
                )
                done += 1
        return Head(layers)

    def _gradients(
        self,
        layers: tuple[Layer, Layer],
        vectors: Float32Array,
        targets: BoolArray,
        mask: Float32Array,
    ) -> list[Float32Array]:
        """Of the mean cross-entropy of a batch, by weights and bias of both layers."""
        first, second = layers
        hidden = np.maximum(vectors @ first.weights + first.bias, 0) * mask
        logits = (hidden @ second.weights + second.bias).astype(np.float64)
        _, errors = cross_entropy(logits, targets, softmax=self.softmax)
        top = (errors / len(vectors)).astype(np.float32)  # [texts, outputs]
        below = (top @ second.weights.T) * mask * (hidden > 0)
        return [vectors.T @ below, below.sum(axis=0), hidden.T @ top, top.sum(axis=0)]


def _initial(
    dim: int, hidden: int, targets: BoolArray, random: np.random.Generator
) -> tuple[Layer, Layer]:
    """Weights at random (He et al. 2015); the scores are 0."""
    first = random.normal(0, np.sqrt(2 / dim), (dim, hidden)).astype(np.float32)
    outputs = targets.shape[1]
    return (
        Layer(first, np.zeros(hidden, np.float32)),
        Layer(np.zeros((hidden, outputs), np.float32), np.zeros(outputs, np.float32)),
    )
