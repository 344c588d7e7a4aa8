"""Score fusion of hybrid search: cosines and BM25 on one scale, and the weight of words.

A text's score is (1 - weight) · cosine / range + weight · BM25 / its highest value for the query.
The range is that of cosines between texts of the index, so that the weight also fits
encoders whose vectors all point the same way. Knows nothing of texts, nor of how a weight is
learnt.
"""

from dataclasses import dataclass
from math import isfinite
from typing import SupportsFloat

import numpy as np

from malmoi.arguments import expect_number
from malmoi.arrays import Float32Array, Int64Array
from malmoi.errors import InvalidArgumentError
from malmoi.vectors import l2_normalize

VERSION = 1  # of the method that learns weights
DEFAULT_WEIGHT = 0.7  # chosen on the train queries of SciFact and on paraKQC
RELEARN_ABOVE = 0.5  # changes since, as a share of the texts
RANGE_DEVIATIONS = 10.0  # range of cosines, in standard deviations
DEFAULT_SPREAD, MIN_SPREAD = 0.1, 0.02  # of cosines: for few texts, and for equal ones
SPREAD_SAMPLE, SEED = 1000, 1  # vectors sampled to measure the spread
MIN_SPREAD_ROWS = 5  # rows needed to measure the spread


@dataclass(frozen=True, kw_only=True)
class Fusion:
    """The weight of words that an index has learnt, and the data it was learnt from."""

    weight: float
    queries: int  # pseudo-queries
    texts: int  # in the index at that time
    changes: int = 0  # texts written and deleted since
    version: int = VERSION

    def __post_init__(self) -> None:
        check_weight(self.weight)
        for name in ("queries", "texts", "changes", "version"):
            if type(getattr(self, name)) is not int:
                raise InvalidArgumentError(
                    f"{name} of its weight is {getattr(self, name)!r}, not a count"
                )

    @property
    def is_stale(self) -> bool:
        """Whether the index has changed much since, or another version learnt the weight."""
        return self.changes > RELEARN_ABOVE * self.texts or self.version != VERSION


def check_weight(weight: float) -> None:
    """Raise `InvalidArgumentError` if a weight is not between 0 and 1."""
    expect_number(weight, SupportsFloat, "weight", "a number")
    if not isfinite(weight) or not 0 <= weight <= 1:
        raise InvalidArgumentError(
            f"weight is {weight:g}: choose from 0 (meaning alone) to 1 (words alone)"
        )


def fuse(
    cosines: Float32Array, matched: Float32Array, weight: float, spread: float
) -> Float32Array:
    """Scores of texts from cosines and from BM25 as a share of its highest value."""
    scale = cosine_scale(weight, spread)
    scores: Float32Array = scale * cosines + np.float32(weight) * matched
    return scores


def cosine_scale(weight: float, spread: float) -> np.float32:
    """What a cosine is multiplied by."""
    return np.float32((1 - weight) / (RANGE_DEVIATIONS * spread))


def spread_sample(vectors: int) -> Int64Array:
    """Which of so many vectors to measure the spread on, in order."""
    drawn = np.random.default_rng(SEED).integers(max(1, vectors), size=SPREAD_SAMPLE)
    return np.unique(drawn)


def cosine_spread(sample: Float32Array) -> float:
    """The standard deviation of cosines between different rows, [n, dim]; zeros do not count."""
    units = l2_normalize(sample[sample.any(axis=1)])
    if len(units) < MIN_SPREAD_ROWS:
        return DEFAULT_SPREAD
    cosines = units @ units.T
    spread = float(cosines[np.triu_indices(len(units), 1)].std())
    return max(spread, MIN_SPREAD)
