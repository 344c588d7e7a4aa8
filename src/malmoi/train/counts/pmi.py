"""Statistics of co-occurrences: probabilities and their ratios, pointwise mutual information.

    P(k|i) = X_ik / X_i                      PMI(i, k) = log P(k|i) / P(k)

with X_i the sum of row i and P(k) the share of column k in all (Levy, Goldberg & Dagan 2015,
section 3).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, log

import numpy as np

from malmoi.arguments import check_numbers, expect, settings_or_default
from malmoi.arrays import Float64Array
from malmoi.errors import InvalidArgumentError
from malmoi.models.cooccurrences import Cooccurrences
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.table import Table, TableCell, Tabular
from malmoi.text.parallel import in_order
from malmoi.train.counts.cooccurrence import FolderPath, RowBlock, collect_rows


@dataclass(frozen=True, kw_only=True)
class PMI:
    """Which variant of pointwise mutual information.

    Attributes:
        positive: Leave out values that are not above 0 (PPMI).
        shift: Subtract log(shift) from every value (k negative samples in word2vec's terms).
        smoothing: Raise the sums of contexts to this power before they become probabilities;
            0.75 lowers the PMI of rare contexts, 1 changes nothing.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    positive: bool = True
    shift: float = 1.0
    smoothing: float = 1.0

    def __post_init__(self) -> None:
        check_numbers(self)
        if not 0 < self.shift < inf:
            raise InvalidArgumentError(
                f"shift is {self.shift:g}: it must be a number above 0 (1 shifts nothing)"
            )
        if not 0 < self.smoothing <= 1:
            raise InvalidArgumentError(
                f"smoothing is {self.smoothing:g}: it must be above 0 and at most 1"
            )


def mutual_information(
    counts: Cooccurrences,
    settings: PMI | None = None,
    *,
    folder: FolderPath = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Cooccurrences:
    """Replace co-occurrence counts by pointwise mutual information.

    Args:
        counts: Counts of co-occurrences.
        settings: The variant of PMI; PPMI without shift and smoothing if not given.
        folder: Folder for temporary files, which hold the result and vanish with it.
        reporter: Receives progress.

    Returns:
        The PMI of all pairs that were counted; it is -∞ for the others, which stay 0.

    Raises:
        InvalidFileError: The temporary files cannot be written.
    """
    expect_reporter(reporter)
    expect(counts, Cooccurrences, "counts", "counts, as count_cooccurrences returns them")
    settings = settings_or_default(settings, PMI)
    shares = counts.context_totals**settings.smoothing
    with np.errstate(divide="ignore"):  # log 0, of words without occurrences
        context_logs = np.log(shares / (shares.sum() or 1))
        row_logs = np.log(counts.totals) + log(settings.shift)
    block_pmi = partial(_block_pmi, counts, row_logs, context_logs, settings.positive)
    blocks = in_order(block_pmi, counts.blocks())
    return collect_rows(counts.vocabulary, blocks, folder, reporter.stage("computing PMI"))


def _block_pmi(
    counts: Cooccurrences,
    row_logs: Float64Array,
    context_logs: Float64Array,
    positive: bool,
    block: tuple[int, int, slice],
) -> RowBlock:
    first, last, entries = block
    columns = counts.columns[entries]
    rows = np.repeat(np.arange(first, last), np.diff(counts.starts[first : last + 1]))
    values = np.log(counts.values[entries], dtype=np.float64)
    values -= row_logs[rows]
    values -= context_logs[columns]
    if positive:
        mask = values > 0
        rows, columns, values = rows[mask], columns[mask], values[mask]
    lengths = np.bincount(rows - first, minlength=last - first)
    return RowBlock(lengths, np.ascontiguousarray(columns), values.astype(np.float32))


@dataclass(frozen=True, eq=False, repr=False)
class ProbabilityTable(Tabular):
    """`probabilities[i, k]` is P(k|i), the probability of context k in the window of word i."""

    words: tuple[str, ...]
    contexts: tuple[str, ...]
    probabilities: Float64Array

    @property
    def ratios(self) -> Float64Array:
        """The first word's probabilities divided by each further word's [words - 1, contexts].

        0 / 0 is nan: neither word co-occurs with that context.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios: Float64Array = self.probabilities[:1] / self.probabilities[1:]
        return ratios

    def rows(self) -> list[tuple[str, list[float]]]:
        """The table as in Pennington et al. (2014), table 1: a label and one number per context."""
        first = f"P(k|{self.words[0]})"
        labels = [f"P(k|{word})" for word in self.words]
        labels += [f"{first}/P(k|{word})" for word in self.words[1:]]
        numbers = np.vstack([self.probabilities, self.ratios])
        return list(zip(labels, numbers.tolist(), strict=True))

    def __repr__(self) -> str:
        return self._table().text()

    def _table(self) -> Table:
        rows: list[list[TableCell]] = [[label, *numbers] for label, numbers in self.rows()]
        return Table("Probabilities of contexts k", ["", *self.contexts], rows)


def probability_table(
    counts: Cooccurrences, words: Sequence[str], contexts: Sequence[str]
) -> ProbabilityTable:
    """The probability P(k|i) of each context k given each word i.

    Args:
        counts: Counts of co-occurrences.
        words: The words i, one row each.
        contexts: The contexts k, one column each.

    Returns:
        The probabilities; `rows()` adds the ratios to the first word.

    Raises:
        InvalidArgumentError: There are no words or no contexts.
        UnknownWordError: A word is not in the vocabulary.
    """
    expect(counts, Cooccurrences, "counts", "counts, as count_cooccurrences returns them")
    for name, several in (("words", words), ("contexts", contexts)):
        expect(several, list | tuple, name, "a list of words")
    if not words or not contexts:
        raise InvalidArgumentError(
            "a table of probabilities needs at least one word and one context"
        )
    probabilities = np.zeros((len(words), len(contexts)))
    for row, word in zip(probabilities, words, strict=True):
        _, values = counts.row(word)
        total = values.sum(dtype=np.float64) or 1  # 1 where the word has no contexts
        row += [counts.value(word, context) / total for context in contexts]
    return ProbabilityTable(tuple(words), tuple(contexts), probabilities)
