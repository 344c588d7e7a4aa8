"""Whether two models differ: the difference of their scores, by a paired bootstrap.

Both models are scored on the same resamples of the questions, so that what makes a resample easy
or hard cancels out.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.evaluate.scores import RESAMPLES, interval, resampled, seeded_generator, spearman

Verdict = Literal["better", "no difference", "worse"]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The second score minus the first, with its 95 % interval by a paired bootstrap."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """Better or worse, if the interval excludes 0."""
        return "better" if self.low > 0 else "worse" if self.high < 0 else "no difference"


def paired_difference(
    values: tuple[float | None, float | None], draws: tuple[Float64Array, Float64Array]
) -> Difference | None:
    """The difference of two values, given the values of the same resamples; None if undefined."""
    first, second = values
    low, high = interval(draws[1] - draws[0])
    if first is None or second is None or low is None or high is None:
        return None
    return Difference(value=second - first, low=low, high=high)


def compare(
    before: Float64Array, after: Float64Array, theirs: Float64Array, seed: int = 0
) -> Difference | None:
    """The difference between two models' Spearman correlations with the same human scores.

    Both use the same resamples of the pairs. None where a correlation is undefined.
    """
    values = spearman(before, theirs), spearman(after, theirs)
    if None in values:
        return None
    drawn = resampled(np.stack([before, after]), theirs, seed)
    return paired_difference(values, (drawn[0], drawn[1]))


def compare_means(before: Float64Array, after: Float64Array, seed: int = 0) -> Difference:
    """The difference between the means of two models' scores of the same questions.

    Both use the same resamples of the questions.
    """
    each, random = after - before, seeded_generator(seed)
    drawn = random.integers(len(each), size=(RESAMPLES, len(each)))
    low, high = interval(each[drawn].mean(axis=1))
    value = float(each.mean())
    return Difference(
        value=value, low=value if low is None else low, high=value if high is None else high
    )
