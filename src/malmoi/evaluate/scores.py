"""Scores: a value with the number of questions behind it and its 95 % interval.

Knows only numbers, nothing of words or vectors.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.errors import InvalidArgumentError
from malmoi.table import Table, TableCell, Tabular

Kind = Literal["spearman", "pearson"]
SCORE_HEADER = ("score", "95 %", "answered")

RESAMPLES = 1000
RESAMPLE_BATCH_SIZE = 2_000_000  # numbers resampled at a time
NORMAL_95 = 1.959963984540054  # standard deviations around 95 % of a normal distribution
COSINE_DIGITS = 9  # cosines that differ only beyond these share a rank
MIN_ANSWERED_SHARE = 0.02  # of the questions: below, the test is in another language


@dataclass(frozen=True, kw_only=True, repr=False)
class Score(Tabular):
    """A value and its 95 % interval; None where too few questions were answered."""

    value: float | None
    low: float | None = None
    high: float | None = None
    answered: int
    total: int

    @property
    def unanswered(self) -> float:
        """The share of questions that were skipped."""
        return 1 - self.answered / self.total if self.total else 0.0

    @property
    def fits(self) -> bool:
        """Whether there is a value and enough questions were answered for it."""
        return self.value is not None and self.answered >= MIN_ANSWERED_SHARE * self.total

    @property
    def interval(self) -> str:
        """The 95 % interval as text; "" if there is no score."""
        if not self.fits or self.low is None or self.high is None:
            return ""
        return f"{self.low:.3f} … {self.high:.3f}"

    @property
    def cells(self) -> tuple[TableCell, TableCell, TableCell]:
        """The cells of a table under `SCORE_HEADER`."""
        return self.value, self.interval, f"{self.answered:,} of {self.total:,}"

    def __repr__(self) -> str:
        value = "none" if self.value is None else f"{self.value:.3f}"
        interval = f", 95 % {self.interval}" if self.interval else ""
        return f"Score({value}{interval}, {self.answered:,} of {self.total:,} answered)"

    def _table(self) -> Table:
        return Table("Score", SCORE_HEADER, [self.cells])


def accuracy(correct: int, answered: int, total: int) -> Score:
    """The share of correct answers, with Wilson's interval."""
    if answered == 0:
        return Score(value=None, answered=0, total=total)
    share, z2 = correct / answered, NORMAL_95**2 / answered
    middle = (share + z2 / 2) / (1 + z2)
    reach = NORMAL_95 * sqrt((share * (1 - share) + z2 / 4) / answered) / (1 + z2)
    low, high = max(0.0, middle - reach), min(1.0, middle + reach)
    return Score(value=share, low=low, high=high, answered=answered, total=total)


def correlation(
    ours: Float64Array, theirs: Float64Array, total: int, seed: int = 0, *, kind: Kind = "spearman"
) -> Score:
    """A correlation, with a bootstrap interval over the pairs."""
    value = (spearman if kind == "spearman" else pearson)(ours, theirs)
    if value is None:
        return Score(value=None, answered=len(ours), total=total)
    low, high = interval(resampled(np.stack([ours]), theirs, seed, kind)[0])
    return Score(value=value, low=low, high=high, answered=len(ours), total=total)


def mean(values: Float64Array, total: int, seed: int = 0) -> Score:
    """The mean of one value per question, with a bootstrap interval over the questions."""
    if len(values) == 0:
        return Score(value=None, answered=0, total=total)
    random = seeded_generator(seed)
    drawn = [values[random.integers(len(values), size=len(values))] for _ in range(RESAMPLES)]
    low, high = interval(np.array([each.mean() for each in drawn]))
    return Score(value=float(values.mean()), low=low, high=high, answered=len(values), total=total)


def spearman(one: Float64Array, other: Float64Array) -> float | None:
    """Spearman's correlation, ties sharing their mean rank; None where undefined."""
    if len(one) < 2:
        return None
    once = np.ones((1, len(one)))
    value = float(
        weighted_correlation(weighted_ranks(one, once), weighted_ranks(other, once), once)[0]
    )
    return None if np.isnan(value) else value


def pearson(one: Float64Array, other: Float64Array) -> float | None:
    """Pearson's correlation; None where undefined."""
    if len(one) < 2:
        return None
    once = np.ones((1, len(one)))
    value = float(weighted_correlation(_scaled(one), _scaled(other), once)[0])
    return None if np.isnan(value) else value


def seeded_generator(seed: int) -> np.random.Generator:
    """A random generator; raises `InvalidArgumentError` for a negative seed."""
    if seed < 0:
        raise InvalidArgumentError(f"seed must be at least 0; got {seed}")
    return np.random.default_rng(seed)


def resample_weights(count: int, seed: int) -> Iterator[Float64Array]:
    """How often each of `count` questions occurs in each resample: blocks [some resamples, count].

    The same count and seed give the same resamples.
    """
    random = seeded_generator(seed)
    step = max(1, RESAMPLE_BATCH_SIZE // count)
    for start in range(0, RESAMPLES, step):
        size = min(step, RESAMPLES - start)
        drawn = random.integers(count, size=(size, count)) + count * np.arange(size)[:, np.newaxis]
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count)
        yield times.astype(np.float64)


def resampled(
    several: Float64Array, other: Float64Array, seed: int, kind: Kind = "spearman"
) -> Float64Array:
    """The correlation of each of `several` [s, n] with `other` [n], in resamples: [s, RESAMPLES].

    All of `several` use the same resamples, so that they can be compared.
    """
    parts = []
    for weights in resample_weights(len(other), seed):
        if kind == "spearman":
            rows, theirs = (
                [weighted_ranks(one, weights) for one in several],
                weighted_ranks(other, weights),
            )
        else:
            rows, theirs = [_scaled(one) for one in several], _scaled(other)
        parts.append([weighted_correlation(one, theirs, weights) for one in rows])
    return np.concatenate([np.array(part) for part in parts], axis=1)


def interval(values: Float64Array) -> tuple[float, float] | tuple[None, None]:
    """The middle 95 % of resampled values, without undefined ones."""
    defined = values[np.isfinite(values)]
    if len(defined) == 0:
        return None, None
    low, high = np.percentile(defined, [2.5, 97.5])
    return float(low), float(high)


def weighted_ranks(values: Float64Array, weights: Float64Array) -> Float64Array:
    """Mean ranks of `values` [n] where value i occurs `weights[b, i]` times: [b, n].

    Values are sorted once; a resample only changes how many precede each.
    """
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    starts = np.flatnonzero(np.r_[True, ascending[1:] != ascending[:-1]])
    counts = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks = np.cumsum(counts, axis=1) - (counts - 1) / 2
    group = np.empty(len(values), dtype=np.int64)
    group[order] = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(values)]))
    spread: Float64Array = ranks[:, group]
    return spread


def _scaled(values: Float64Array) -> Float64Array:
    """Values [n] with mean 0 and standard deviation 1, as [1, n]."""
    if np.ptp(values) == 0:
        return np.zeros((1, len(values)))
    centred = values - values.mean()
    scaled: Float64Array = centred / np.sqrt((centred**2).mean())
    return scaled[np.newaxis]


def weighted_correlation(
    one: Float64Array, other: Float64Array, weights: Float64Array
) -> Float64Array:
    """Pearson's correlation of two [b, n], row by row; NaN where one of them is constant."""
    total = weights.sum(axis=1, keepdims=True)
    one = one - (weights * one).sum(axis=1, keepdims=True) / total
    other = other - (weights * other).sum(axis=1, keepdims=True) / total
    shared = (weights * one * other).sum(axis=1)
    spreads = (weights * one * one).sum(axis=1) * (weights * other * other).sum(axis=1)
    defined = spreads > 1e-12
    return np.where(defined, shared / np.sqrt(np.where(defined, spreads, 1)), np.nan)
