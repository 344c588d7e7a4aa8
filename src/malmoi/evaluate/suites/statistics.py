"""Statistics that are computed for many resamples of their questions at once.

Each is called with weights [resamples, n], how often each question occurs, and returns one value
per resample, NaN where it is undefined. Knows nothing of texts and models.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from malmoi.arrays import BoolArray, Float64Array, Int64Array
from malmoi.evaluate.scores import weighted_correlation, weighted_ranks


class Statistic(Protocol):
    """A figure over n questions."""

    def __len__(self) -> int:
        """The number of questions."""

    def __call__(self, weights: Float64Array) -> Float64Array:
        """The value of each resample: weights [b, n] to [b]."""


@dataclass(frozen=True, eq=False)
class MeanValue:
    """The mean of one value per question."""

    values: Float64Array

    def __len__(self) -> int:
        return len(self.values)

    def __call__(self, weights: Float64Array) -> Float64Array:
        """Σ weight · value / Σ weight."""
        return _divide(weights @ self.values, weights.sum(axis=1))


@dataclass(frozen=True, eq=False)
class SpearmanCorrelation:
    """Spearman's correlation of two values per question; equal values share their mean rank."""

    ours: Float64Array
    theirs: Float64Array

    def __len__(self) -> int:
        return len(self.ours)

    def __call__(self, weights: Float64Array) -> Float64Array:
        """The questions of each resample are ranked anew."""
        ranks = [weighted_ranks(values, weights) for values in (self.ours, self.theirs)]
        return weighted_correlation(*ranks, weights)


@dataclass(frozen=True, eq=False)
class AveragePrecision:
    """Σ (Rₖ − Rₖ₋₁) · Pₖ over the different scores, highest first: precision P, recall R."""

    scores: Float64Array
    is_positive: BoolArray

    def __len__(self) -> int:
        return len(self.scores)

    def __call__(self, weights: Float64Array) -> Float64Array:
        """Questions with equal scores are retrieved together, as in scikit-learn."""
        order, ends = self._thresholds
        retrieved = np.cumsum(weights[:, order], axis=1)[:, ends]  # [b, different scores]
        positive = np.cumsum((weights * self.is_positive)[:, order], axis=1)[:, ends]
        precision = _divide(positive, retrieved)
        gained = np.diff(positive, axis=1, prepend=0)
        # No question of a threshold may be in a resample: its precision is 0 / 0, its gain 0.
        total = np.where(gained > 0, gained * precision, 0).sum(axis=1)
        return _divide(total, positive[:, -1])

    @cached_property
    def _thresholds(self) -> tuple[Int64Array, Int64Array]:
        """The questions by descending score, and the last one of each different score."""
        order = np.argsort(-self.scores, kind="stable")
        descending = self.scores[order]
        return order, np.flatnonzero(np.r_[descending[1:] != descending[:-1], True])


@dataclass(frozen=True, eq=False)
class VMeasure:
    """Harmonic mean of homogeneity and completeness (Rosenberg and Hirschberg 2007)."""

    classes: Int64Array
    clusters: Int64Array

    def __len__(self) -> int:
        return len(self.classes)

    def __call__(self, weights: Float64Array) -> Float64Array:
        """2 I / (H(classes) + H(clusters)), I the mutual information; 1 where both are one group.

        With homogeneity I / H(classes) and completeness I / H(clusters) that is their harmonic
        mean.
        """
        by_class, by_cluster, both = (
            _entropy(weights @ _one_hot(groups))
            for groups in (
                self.classes,
                self.clusters,
                self.classes * (self.clusters.max() + 1) + self.clusters,
            )
        )
        entropies = by_class + by_cluster
        information = np.maximum(entropies - both, 0)
        return np.where(entropies > 1e-12, _divide(2 * information, entropies), 1.0)


@dataclass(frozen=True, eq=False)
class MacroF1:
    """The mean over classes of F1 = 2 · hits / (predicted + actual)."""

    classes: Int64Array
    predicted: Int64Array

    def __len__(self) -> int:
        return len(self.classes)

    def __call__(self, weights: Float64Array) -> Float64Array:
        """A class that a resample neither has nor predicts does not count."""
        numbers = np.unique(np.concatenate([self.classes, self.predicted]))
        actual, predicted = (
            (groups[:, np.newaxis] == numbers).astype(np.float64)
            for groups in (self.classes, self.predicted)
        )
        hits, either = weights @ (actual * predicted), weights @ (actual + predicted)
        return np.nanmean(_divide(2 * hits, either), axis=1)


def _one_hot(groups: Int64Array) -> Float64Array:
    """[n, groups]; numbers need not be consecutive."""
    _, numbers = np.unique(groups, return_inverse=True)
    return np.eye(numbers.max() + 1)[numbers]


def _entropy(counts: Float64Array) -> Float64Array:
    """The entropy of counts [b, groups] in nats."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    entropy: Float64Array = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1)
    return entropy


def _divide(above: Float64Array, below: Float64Array) -> Float64Array:
    """The quotient, NaN where the divisor is 0."""
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
