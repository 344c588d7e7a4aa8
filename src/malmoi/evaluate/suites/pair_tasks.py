"""Tasks over pairs of texts: similarity judged by people, and entailment.

The figure of a pair is the cosine of its texts. A pair with a text that has a zero vector gets a
cosine of 0 and does not count as answered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.evaluate.sentences import pair_cosines
from malmoi.evaluate.sets.sentence_sets import SentenceSet
from malmoi.evaluate.suites.statistics import AveragePrecision, SpearmanCorrelation
from malmoi.evaluate.suites.task import (
    Embed,
    Language,
    Measure,
    TaskKind,
    check_enough,
    numbered,
    sample,
)

ENTAILMENT, NEUTRAL = "entailment", "neutral"


class LabelledPair(NamedTuple):
    """A premise, a hypothesis and their relation."""

    one: str
    other: str
    label: str


@dataclass(frozen=True)
class SimilarityTask:
    """Spearman's correlation of cosines with human scores (MTEB's STS)."""

    name: str
    language: Language
    pairs: SentenceSet = field(repr=False)
    kind: TaskKind = "sts"

    def limited(self, texts: int) -> Self:
        """The task with at most this many texts."""
        pairs = tuple(sample(self.pairs.pairs, max(1, texts // 2)))
        return replace(self, pairs=replace(self.pairs, pairs=pairs))

    def measure(self, embed: Embed) -> list[Measure]:
        """`cosine_spearman`."""
        check_enough(self.name, len(self.pairs.pairs), 2, "pairs")
        cosines, answered = _cosines(embed, self.pairs.pairs)
        theirs = np.array([pair.score for pair in self.pairs.pairs])
        statistic = SpearmanCorrelation(cosines, theirs)
        return [Measure("cosine_spearman", statistic, answered=answered)]


@dataclass(frozen=True)
class EntailmentTask:
    """Whether cosines tell entailment from contradiction (MTEB's pair classification).

    The main metric leaves neutral pairs out, as MTEB does with NLI sets; the second has
    entailment against all others. Pairs with the same premise are resampled together.
    """

    name: str
    language: Language
    pairs: tuple[LabelledPair, ...] = field(repr=False)
    kind: TaskKind = "nli"

    def limited(self, texts: int) -> Self:
        """The task with at most this many texts."""
        return replace(self, pairs=tuple(sample(self.pairs, max(1, texts // 2))))

    def measure(self, embed: Embed) -> list[Measure]:
        """`cosine_ap` without and with neutral pairs."""
        check_enough(self.name, len(self.pairs), 2, "pairs")
        cosines, _ = _cosines(embed, self.pairs)
        labels = np.array([pair.label for pair in self.pairs])
        premises = np.array([pair.one for pair in self.pairs])
        measures = []
        for metric, used in (
            ("cosine_ap", labels != NEUTRAL),
            ("cosine_ap with neutral", np.full(len(labels), True)),
        ):
            statistic = AveragePrecision(cosines[used], labels[used] == ENTAILMENT)
            measures.append(Measure(metric, statistic, numbered(premises[used])))
        return measures


def _cosines(embed: Embed, pairs: Sequence[tuple[str, str, object]]) -> tuple[Float64Array, int]:
    """The cosine of each pair, 0 where it is undefined, and for how many pairs it is defined."""
    sides = [embed([pair[side] for pair in pairs]) for side in (0, 1)]
    cosines = pair_cosines(*sides)
    return np.nan_to_num(cosines, nan=0.0), int(np.isfinite(cosines).sum())
