"""Fits a linear classifier to sets of n-grams: which n-grams have a row, and what they weigh.

Knows nothing of files and of how texts are split.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.classify.base.outputs import Outputs
from malmoi.classify.ngrams.settings import NgramClassifier
from malmoi.kernels.classify.sets import Sets
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter

if TYPE_CHECKING:
    from malmoi.kernels.classify.linear_trainer import LinearKernel

CHUNK_CHARACTERS = 1 << 22  # of texts whose n-grams are collected at once
BIAS_RATE = 0.05  # learning rate of the bias, as a share of that of the weights
FIRST_SQUARE = 1e-3  # of AdaGrad
MAX_WEIGHTS = 1 << 26  # rows × outputs, 256 MB; the rarest n-grams are left out beyond


@dataclass(frozen=True, eq=False)
class FittedWeights:
    """Sorted buckets [rows], values w·r [rows, outputs], norms [rows], and biases [outputs]."""

    buckets: Int32Array
    values: Float32Array
    norms: Float32Array
    bias: Float32Array
    left_out: int = 0  # n-grams beyond MAX_WEIGHTS


@dataclass(frozen=True, eq=False)
class NgramFit:
    """Texts and outputs that a linear classifier is fitted to."""

    texts: Sequence[str]
    outputs: Outputs
    settings: NgramClassifier
    reporter: Reporter = field(default=DEFAULT_REPORTER)

    @property
    def width(self) -> int:
        """The number of outputs."""
        return self.outputs.num_outputs

    @cached_property
    def features(self) -> Sets:
        """The buckets of all texts."""
        progress, parts, done = self.reporter.stage("n-grams", "texts"), list[Sets](), 0
        for chunk in chunks(self.texts):
            parts.append(self.settings.ngrams.sets(chunk))
            done += len(chunk)
            progress(done, len(self.texts))
        return parts[0].joined(parts[1:])

    def fit(self, chosen: Int64Array) -> FittedWeights:
        """Fit to the chosen texts."""
        from malmoi.kernels.classify.linear_trainer import LinearKernel, bucket_counts, to_rows

        settings = self.settings
        features, labels = self.features, self.outputs.labels
        counts = bucket_counts(features.items, settings.bits)
        buckets, left_out = self._kept(counts)
        rows = np.full(len(counts), -1, np.int32)
        rows[buckets] = np.arange(len(buckets), dtype=np.int32)
        kernel = LinearKernel(to_rows(features, rows), labels, len(buckets), self.width)
        kernel.count(chosen, settings.alpha)
        kernel.weights[:] = self._weights(labels)
        if settings.optimizer == "adagrad":
            kernel.squares = np.full((len(buckets), self.width), FIRST_SQUARE, np.float32)
        self._learn(kernel, chosen)
        ratios = kernel.ratios()
        norms = np.sqrt((ratios**2).mean(axis=1, dtype=np.float32))
        used = np.flatnonzero(norms)  # not of texts that were not chosen
        return FittedWeights(
            buckets[used].astype(np.int32),
            (kernel.table[:, : self.width] * ratios)[used],
            norms[used],
            kernel.bias,
            left_out,
        )

    def _kept(
        self, counts: "np.ndarray[tuple[int], np.dtype[np.uint32]]"
    ) -> tuple[Int64Array, int]:
        """The buckets with a row: frequent ones, and no more than fit in memory."""
        frequent = np.flatnonzero(counts >= self.settings.min_count)
        most = max(1, MAX_WEIGHTS // self.width)
        if len(frequent) <= most:
            return frequent, 0
        order = np.argsort(-counts[frequent].astype(np.int64), kind="stable")[:most]
        return np.sort(frequent[order]), len(frequent) - most

    def _weights(self, labels: Sets) -> Float32Array:
        """The weights of texts without and with each label, [2, outputs]."""
        weights = np.ones((2, self.width), np.float32)
        if not self.settings.balanced:
            return weights
        texts = len(labels.offsets) - 1
        positive = np.maximum(np.bincount(labels.items, minlength=self.width), 1)
        if self.outputs.softmax:
            weights[1] = texts / (self.width * positive)
        else:
            weights[1] = texts / (2 * positive)
            weights[0] = texts / (2 * np.maximum(texts - positive, 1))
        return weights

    def _learn(self, kernel: "LinearKernel", chosen: Int64Array) -> None:
        from malmoi.kernels.core.jit import pool

        texts = len(chosen)
        epochs, threads = self.settings.epochs_for(texts), min(self.settings.threads, texts)
        random, losses = np.random.default_rng(self.settings.seed), np.zeros(threads)
        progress = self.reporter.stage("training", "epochs")
        for epoch in range(epochs):
            order = random.permutation(chosen).astype(np.uint32)
            first, last = (self.settings.rate * (1 - each / epochs) for each in (epoch, epoch + 1))
            parts = np.array_split(order, threads)
            waiting = [
                pool().submit(
                    kernel.learn,
                    part,
                    (first, last, BIAS_RATE),
                    losses,
                    i,
                    softmax=self.outputs.softmax,
                )
                for i, part in enumerate(parts[1:], 1)
            ]
            kernel.learn(
                parts[0], (first, last, BIAS_RATE), losses, 0, softmax=self.outputs.softmax
            )
            for one in waiting:
                one.result()
            progress(epoch + 1, epochs)


def chunks(texts: Sequence[str]) -> "list[Sequence[str]]":
    """The texts in parts of so many characters, one text in each at least."""
    ends, size = [0], 0
    for i, text in enumerate(texts):
        if size and size + len(text) > CHUNK_CHARACTERS:
            ends.append(i)
            size = 0
        size += len(text)
    return [texts[a:b] for a, b in zip(ends, [*ends[1:], len(texts)], strict=True)]
