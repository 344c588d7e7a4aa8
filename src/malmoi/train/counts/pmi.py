"""What co-occurrences say: probabilities and their ratios, pointwise mutual information.

    P(k|i) = X_ik / X_i                      PMI(i, k) = log P(k|i) / P(k)

with X_i the sum of row i and P(k) the share of column k in all (Levy, Goldberg & Dagan 2015,
section 3). Knows nothing of how the co-occurrences were counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, log

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.errors import InvalidArgumentError
from malmoi.models.cooccurrences import Cooccurrences
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.text.parallel import in_order
from malmoi.train.counts.cooccurrence import Block, Folder, gathered


@dataclass(frozen=True, kw_only=True)
class PMI:
    """Which variant of pointwise mutual information.

    `shift` k takes log k off every number (k negatives in word2vec's terms). What is not
    above 0 is left out if `positive` (PPMI). `smoothing` raises the columns' sums to a power
    before they become shares: 0.75 makes rare contexts count less; 1 leaves them.
    """

    positive: bool = True
    shift: float = 1.0
    smoothing: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.shift < inf:
            raise InvalidArgumentError(
                f"shift is {self.shift:g}: give a number above 0 (1 shifts nothing)"
            )
        if not 0 < self.smoothing <= 1:
            raise InvalidArgumentError(
                f"smoothing is {self.smoothing:g}: it is above 0 and at most 1"
            )


def mutual_information(
    counts: Cooccurrences,
    settings: PMI | None = None,
    *,
    folder: Folder = None,
    progress: Progress = no_progress,
) -> Cooccurrences:
    """The PMI of all pairs that were seen (it is -∞ for the others), in place of their counts."""
    settings = settings or PMI()
    shares = counts.context_totals**settings.smoothing
    with np.errstate(divide="ignore"):  # log 0, of words that were never seen
        context_logs = np.log(shares / (shares.sum() or 1))
        row_logs = np.log(counts.totals) + log(settings.shift)
    inform = partial(_informed, counts, row_logs, context_logs, settings.positive)
    return gathered(counts.vocabulary, in_order(inform, counts.blocks()), folder, progress)


def _informed(
    counts: Cooccurrences,
    row_logs: Float64Array,
    context_logs: Float64Array,
    positive: bool,
    block: tuple[int, int, slice],
) -> Block:
    first, last, part = block
    columns = counts.columns[part]
    rows = np.repeat(np.arange(first, last), np.diff(counts.starts[first : last + 1]))
    values = np.log(counts.values[part], dtype=np.float64)
    values -= row_logs[rows]
    values -= context_logs[columns]
    if positive:
        kept = values > 0
        rows, columns, values = rows[kept], columns[kept], values[kept]
    lengths = np.bincount(rows - first, minlength=last - first)
    return Block(lengths, np.ascontiguousarray(columns), values.astype(np.float32))


@dataclass(frozen=True, eq=False)
class ProbabilityTable:
    """`probabilities[i, k]` is how likely context k is beside word i."""

    words: tuple[str, ...]
    contexts: tuple[str, ...]
    probabilities: Float64Array

    @property
    def ratios(self) -> Float64Array:
        """The first word's probabilities over each further word's [words - 1, contexts].

        0 / 0 is nan: neither word was seen beside that context.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios: Float64Array = self.probabilities[:1] / self.probabilities[1:]
        return ratios

    def rows(self) -> list[tuple[str, list[float]]]:
        """The table as in Pennington et al. (2014), table 1: a label, a number per context."""
        first = f"P(k|{self.words[0]})"
        labels = [f"P(k|{word})" for word in self.words]
        labels += [f"{first}/P(k|{word})" for word in self.words[1:]]
        numbers = np.vstack([self.probabilities, self.ratios])
        return list(zip(labels, numbers.tolist(), strict=True))


def probability_table(
    counts: Cooccurrences, words: Sequence[str], contexts: Sequence[str]
) -> ProbabilityTable:
    """How likely each context is beside each word."""
    if not words or not contexts:
        raise InvalidArgumentError(
            "a table of probabilities takes at least one word and one context"
        )
    found = np.zeros((len(words), len(contexts)))
    for row, word in zip(found, words, strict=True):
        _, values = counts.row(word)
        total = values.sum(dtype=np.float64) or 1  # 1 where nothing stands beside the word
        row += [counts.value(word, context) / total for context in contexts]
    return ProbabilityTable(tuple(words), tuple(contexts), found)
