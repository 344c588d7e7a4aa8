"""Sentence similarity (STS): how well do the cosines of an encoder agree with human judgements?

Cosines and human scores are compared by rank (Spearman) and by value (Pearson). The pairs of a
text with a zero vector get a cosine of 0, and are counted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from malmoi.arrays import Float32Array, Float64Array
from malmoi.encode.protocol import Encoder, expect_encoder
from malmoi.evaluate.scores import COSINE_DIGITS, SCORE_HEADER, Kind, Score, correlation
from malmoi.evaluate.sets.locate_sets import find_sentence_sets
from malmoi.evaluate.sets.sentence_sets import PairSource, SentenceSet, read_sentences
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.table import Table, Tabular


@dataclass(frozen=True, repr=False)
class SentenceScore(Tabular):
    """Correlations with human scores; pairs whose texts both have a vector count as answered."""

    name: str
    spearman: Score
    pearson: Score

    def __repr__(self) -> str:
        return f"SentenceScore({self.name}, spearman={self.spearman}, pearson={self.pearson})"

    def _table(self) -> Table:
        return SentenceScores((self,))._table()


class SentenceScores(tuple[SentenceScore, ...], Tabular):
    """The scores of an encoder, one per set."""

    def __repr__(self) -> str:
        return self._table().text()

    def _table(self) -> Table:
        rows = [
            (one.name, kind, *score.cells)
            for one in self
            for kind, score in (("Spearman", one.spearman), ("Pearson", one.pearson))
        ]
        return Table("Sentence similarity", ["set", "", *SCORE_HEADER], rows)


def sentence_similarity(
    encoder: Encoder,
    pairs: PairSource,
    *,
    columns: Sequence[str] | None = None,
    seed: int = 0,
    reporter: Reporter = DEFAULT_REPORTER,
) -> SentenceScore:
    """Compare cosines with the human judgements of a file such as STS-B's.

    Args:
        encoder: The encoder to evaluate.
        pairs: A table or JSON-lines file of two texts and a score, a DataFrame or Arrow table of
            them, or a `SentenceSet`.
        columns: The columns of the two texts and the score, where they cannot be detected.
        seed: Seed of the bootstrap behind the intervals.
        reporter: Receives the progress and warnings.

    Returns:
        Spearman's and Pearson's correlations with intervals.

    Raises:
        InvalidFileError: The file cannot be read or does not hold pairs with scores.
        InvalidArgumentError: The columns or the seed are not valid.
    """
    expect_reporter(reporter)
    expect_encoder(encoder)
    pair_set = read_sentences(pairs, columns)
    return evaluate_sentences(encoder, [pair_set], seed=seed, reporter=reporter)[0]


def evaluate_sentences(
    encoder: Encoder,
    files: Iterable[PairSource] | PairSource | None = None,
    *,
    columns: Sequence[str] | None = None,
    seed: int = 0,
    reporter: Reporter = DEFAULT_REPORTER,
) -> SentenceScores:
    """Run `sentence_similarity` on each of `files`, or on all installed sets.

    Each different text is encoded once.

    Args:
        encoder: The encoder to evaluate.
        files: Sets of sentence pairs, DataFrames or files; without any, those below
            $MALMOI_DATA/sts.
        columns: The columns of the two texts and the score, where they cannot be detected.
        seed: Seed of the bootstrap behind the intervals.
        reporter: Receives the progress and warnings.

    Returns:
        One score per set.

    Raises:
        InvalidFileError: A file cannot be read or does not hold pairs with scores.
        InvalidArgumentError: There are no sets, or the columns or the seed are not valid.
    """
    expect_reporter(reporter)
    expect_encoder(encoder)
    sets = find_sentence_sets(files, columns)
    texts = dict.fromkeys(text for one in sets for pair in one.pairs for text in pair[:2])
    rows = {text: row for row, text in enumerate(texts)}
    matrix = encoder.encode(list(texts), reporter=reporter)
    scores = []
    for one in sets:
        indices = np.array([[rows[pair.one], rows[pair.other]] for pair in one.pairs])
        cosines = pair_cosines(matrix[indices[:, 0]], matrix[indices[:, 1]])
        scores.append(score_sentences(one, cosines, seed, reporter))
    return SentenceScores(scores)


def score_sentences(
    pair_set: SentenceSet,
    cosines: Float64Array,
    seed: int = 0,
    reporter: Reporter = DEFAULT_REPORTER,
) -> SentenceScore:
    """The score of a set by the cosines of its pairs; NaN for a zero vector."""
    answered = int(np.isfinite(cosines).sum())
    ours = np.nan_to_num(cosines, nan=0.0)
    theirs = np.array([pair.score for pair in pair_set.pairs])

    def score(kind: Kind) -> Score:
        return replace(correlation(ours, theirs, len(ours), seed, kind=kind), answered=answered)

    scores = SentenceScore(pair_set.name, score("spearman"), score("pearson"))
    if scores.spearman.value is None:
        reporter.warn(f"{pair_set.name}: {_why_undefined(ours, theirs)}")
    return scores


def pair_cosines(one: Float32Array, other: Float32Array) -> Float64Array:
    """The cosine of each row of [n, dim] with the same row of another; NaN for zero vectors."""
    a, b = one.astype(np.float64), other.astype(np.float64)
    norms = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    defined = np.isfinite(norms) & (norms > 0)
    cosines: Float64Array = np.full(len(a), np.nan)
    cosines[defined] = np.round((a * b).sum(axis=1)[defined] / norms[defined], COSINE_DIGITS)
    return cosines


def _why_undefined(ours: Float64Array, theirs: Float64Array) -> str:
    if len(ours) < 2:
        return "the correlation of a single pair is undefined"
    if np.ptp(theirs) == 0:
        return f"all human scores are {theirs[0]:g}: the correlation is undefined"
    return "all cosines are equal: the correlation is undefined"
