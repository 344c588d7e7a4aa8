"""LinearClassifier: a weight for each n-gram and label, and a bias for each label.

Its scores need NumPy alone; many texts are scored by compiled kernels, with the same bits.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from malmoi.arguments import expect
from malmoi.arrays import Float32Array, Float64Array, Int32Array
from malmoi.classify.base.explanation import ClassExplanation, Contribution
from malmoi.classify.base.outputs import Outputs, calibrated, calibration_rows, common_fields
from malmoi.classify.base.trained_classifier import TrainedClassifier
from malmoi.classify.ngrams.features import COMPILED_CHARACTERS, Ngrams
from malmoi.classify.ngrams.fitting import FittedWeights, NgramFit, chunks
from malmoi.classify.ngrams.settings import NgramClassifier
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.classify.sets import Sets
from malmoi.reporting.reporter import Reporter
from malmoi.tune.data.labelled_set import LabelledSet
from malmoi.unicode import normalize

if TYPE_CHECKING:
    from malmoi.kernels.classify.linear_scores import BucketRows


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LinearClassifier(TrainedClassifier):
    """A linear classifier on hashed n-grams, as `train_classifier` makes it.

    The score of an output is Σ values / √Σ norms² over the n-grams of a text that have a row, plus
    the bias, divided by the temperature.
    """

    ngrams: Ngrams
    weights: FittedWeights

    def __post_init__(self) -> None:
        super().__post_init__()
        rows, outputs = len(self.weights.buckets), len(self.weights.bias)
        if outputs != self.num_outputs:
            raise InvalidArgumentError(f"{outputs} outputs do not fit {len(self.labels)} labels")
        if self.weights.values.shape != (rows, outputs) or self.weights.norms.shape != (rows,):
            raise InvalidArgumentError("the weights do not fit the n-grams and labels")

    def describe(self) -> dict[str, str]:
        """Facts about the classifier for people.

        Returns:
            Names and values.
        """
        ngrams = self.ngrams
        kinds = [
            f"{ngrams.min_n} to {ngrams.max_n} characters" if ngrams.max_n else "",
            f"up to {ngrams.words} words" if ngrams.words else "",
            f"3 to {ngrams.jamo} jamo" if ngrams.jamo else "",
        ]
        loss = "softmax" if self.uses_softmax else "a sigmoid for each label"
        return {
            "kind": "linear, on hashed n-grams",
            "labels": f"{len(self.labels):,}: {', '.join(self.labels)}",
            "n-grams": ", ".join(filter(None, kinds)),
            "rows": f"{len(self.weights.buckets):,} of {1 << ngrams.bits:,} buckets",
            "outputs": loss if len(self.weights.bias) > 1 else "one, of two classes",
            "temperature": f"{self.temperature:.3f}",
            **self.metadata,
        }

    def explain(self, text: str) -> ClassExplanation:
        """Which n-grams of a text speak for which label.

        Args:
            text: One text.

        Returns:
            The label, its probability, and the contribution of each n-gram.
        """
        expect(text, str, "text", "one text")
        text = normalize("NFC", text)
        probabilities = self.probabilities([text])[0]
        best, weights = int(probabilities.argmax()), self.weights
        spans = defaultdict[int, list[tuple[int, int]]](list)
        for bucket, start, stop in self.ngrams.spans(text):
            spans[bucket].append((start, stop))
        buckets = np.array(list(spans), np.int32)
        rows = self._rows(buckets)
        known = rows >= 0
        norm = float(np.sqrt((weights.norms[rows[known]].astype(np.float64) ** 2).sum())) or 1.0
        values = weights.values[rows[known]].astype(np.float64) / (norm * self.temperature)
        if self.uses_softmax and len(self.labels) > 2:
            values -= values.mean(axis=1, keepdims=True)  # what is the same for all says nothing
        parts = [
            self._contribution(text, spans[int(bucket)], row)
            for bucket, row in zip(buckets[known], values, strict=True)
        ]
        parts.sort(key=lambda one: (-abs(one.value), one.spans))
        bias = weights.bias / self.temperature
        own = bias[best] if len(bias) > 1 else bias[0] * (1 if best else -1)
        return ClassExplanation(
            text=text,
            label=self.labels[best],
            probability=float(probabilities[best]),
            bias=float(own),
            contributions=tuple(one for one in parts if one.value),
        )

    def _contribution(
        self, text: str, spans: list[tuple[int, int]], values: Float64Array
    ) -> Contribution:
        start, stop = spans[0]
        part = " " * (start < 0) + text[max(start, 0) : stop] + " " * (stop > len(text))
        inside = tuple((max(start, 0), min(stop, len(text))) for start, stop in spans)
        if len(values) == 1:
            label, value = self.labels[int(values[0] > 0)], abs(float(values[0]))
        else:
            label, value = self.labels[int(values.argmax())], float(values.max())
        return Contribution(part=part, label=label, value=value, spans=inside)

    def raw_scores(self, texts: Sequence[str]) -> Float64Array:
        """Scores [texts, outputs] before they are divided by the temperature."""
        parts = [self._sums(self.ngrams.sets(chunk)) for chunk in chunks(texts)]
        scores: Float64Array = np.concatenate(parts) + self.weights.bias
        return scores

    def _sums(self, sets: Sets) -> Float64Array:
        values, norms = self.weights.values, self.weights.norms
        if len(sets.items) > COMPILED_CHARACTERS:
            return self._bucket_rows.scores(*sets, values, norms)
        return plain_scores(sets, self._rows(sets.items), values, norms)

    @cached_property
    def _bucket_rows(self) -> "BucketRows":
        from malmoi.kernels.classify.linear_scores import BucketRows

        return BucketRows(self.weights.buckets, self.ngrams.bits)

    def _rows(self, buckets: Int32Array) -> Int32Array:
        """The row of each bucket, or -1."""
        own = self.weights.buckets
        if not len(own):
            return np.full(len(buckets), -1, np.int32)
        rows = np.minimum(np.searchsorted(own, buckets), len(own) - 1)
        return np.where(own[rows] == buckets, rows, -1).astype(np.int32)


def plain_scores(
    sets: Sets, rows: Int32Array, values: Float32Array, norms: Float32Array
) -> Float64Array:
    """Σ values / √Σ norms² of each text, [texts, outputs]; 0 without known n-grams."""
    texts, known = np.repeat(np.arange(len(sets.sizes)), sets.sizes), rows >= 0
    texts, rows, count = texts[known], rows[known], len(sets.sizes)
    squares = np.bincount(texts, norms[rows].astype(np.float64) ** 2, count)
    sums = [np.bincount(texts, column, count) for column in values[rows].T]
    scale = np.where(squares > 0, np.sqrt(squares), 1)
    return np.stack(sums, axis=1) / scale[:, np.newaxis]


def fit_ngrams(
    data: LabelledSet, settings: NgramClassifier, reporter: Reporter
) -> LinearClassifier:
    """A linear classifier of all these texts; some calibrate its probabilities."""
    outputs = Outputs.of(data, one_versus_rest=settings.loss == "one_versus_rest")
    held_out = calibration_rows(data, settings)
    chosen = np.delete(np.arange(len(data)), held_out)
    weights = NgramFit(data.texts, outputs, settings, reporter).fit(chosen)
    if weights.left_out:
        reporter.warn(
            f"{weights.left_out:,} n-grams are left out: {len(data.names):,} labels and all n-grams"
            " do not fit in memory; raise min_count"
        )
    common = common_fields(data, softmax=outputs.softmax)
    classifier = LinearClassifier(ngrams=settings.ngrams, weights=weights, **common._asdict())
    return calibrated(classifier, data, outputs, held_out)
