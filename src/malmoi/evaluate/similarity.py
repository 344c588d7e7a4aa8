"""Word similarity: how well do cosines agree with human judgements?

Cosines and human scores are compared by rank (Spearman). A pair with a word that has no vector is
skipped and counted.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from malmoi.arrays import BoolArray, Float64Array
from malmoi.evaluate.lookup import WordLookup, look_up_words
from malmoi.evaluate.scores import COSINE_DIGITS, SCORE_HEADER, Score, correlation
from malmoi.evaluate.sets.word_sets import SimilaritySet, read_pairs
from malmoi.query.directions import restrict
from malmoi.table import Table, Tabular
from malmoi.vectors import Vectors, expect_vectors


@dataclass(frozen=True, repr=False)
class SimilarityScore(Tabular):
    """Spearman's correlation with human scores.

    `from_ngrams` counts the answered pairs with a word that was built from n-grams; `unknown` are
    the words without a vector.
    """

    name: str
    spearman: Score
    from_ngrams: int
    unknown: tuple[str, ...]

    def __repr__(self) -> str:
        return f"SimilarityScore({self.name}, spearman={self.spearman})"

    def _table(self) -> Table:
        rows = [("Spearman", *self.spearman.cells)]
        return Table(f"Word similarity: {self.name}", ["", *SCORE_HEADER], rows)


def word_similarity(
    vectors: Vectors,
    pairs: SimilaritySet | str | Path,
    *,
    restrict_vocab: int | None = None,
    fold_case: bool = True,
    seed: int = 0,
) -> SimilarityScore:
    """Compare cosines with the human judgements of a file such as WordSim-353.

    Args:
        vectors: The vectors to evaluate.
        pairs: A file of two words and a score per line, or a `SimilaritySet`.
        restrict_vocab: Use only the most frequent words, this many.
        fold_case: Treat Tiger and tiger as the same word.
        seed: Seed of the bootstrap behind the interval.

    Returns:
        Spearman's correlation with its interval, and the words without a vector.

    Raises:
        InvalidFileError: The file cannot be read or does not hold pairs with scores.
        InvalidArgumentError: restrict_vocab or the seed is not valid.
    """
    expect_vectors(vectors)
    pair_set = read_pairs(pairs)
    words = [word for pair in pair_set.pairs for word in pair[:2]]
    lookup = look_up_words(restrict(vectors, restrict_vocab), words, fold_case=fold_case)
    cosines, answered = word_pair_cosines(lookup)
    scores = np.array([pair.score for pair in pair_set.pairs])
    built = lookup.is_built.reshape(-1, 2).any(axis=1) & answered
    unknown = dict.fromkeys(
        word for word, known in zip(words, lookup.is_known, strict=True) if not known
    )
    return SimilarityScore(
        pair_set.name,
        correlation(cosines[answered], scores[answered], len(scores), seed),
        int(built.sum()),
        tuple(unknown),
    )


def word_pair_cosines(lookup: WordLookup) -> tuple[Float64Array, BoolArray]:
    """The cosine of words 0 and 1, 2 and 3, …, and whether both have a vector."""
    pairs = lookup.directions.reshape(-1, 2, lookup.directions.shape[1])
    cosines: Float64Array = np.round((pairs[:, 0] * pairs[:, 1]).sum(axis=1), COSINE_DIGITS)
    one, other = lookup.is_known.reshape(-1, 2).T
    return cosines, one & other
