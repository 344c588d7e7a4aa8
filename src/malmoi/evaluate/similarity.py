"""Word similarity: do vectors find the same words similar as people do?

Cosines and people's scores are compared by rank (Spearman). A pair of which a word has no
vector is left out and counted.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from malmoi.arrays import BoolArray, Float64Array
from malmoi.evaluate.lookup import Answers, answer, restricted
from malmoi.evaluate.scores import DIGITS, Score, correlation
from malmoi.evaluate.sets.word_sets import SimilaritySet, read_pairs
from malmoi.vectors import Vectors


@dataclass(frozen=True)
class SimilarityScore:
    """Spearman's correlation with people's scores.

    `from_ngrams` of the answered pairs have a word that was built from its n-grams;
    `unknown` are the words that had no answer.
    """

    name: str
    spearman: Score
    from_ngrams: int
    unknown: tuple[str, ...]


def word_similarity(
    vectors: Vectors,
    pairs: SimilaritySet | str | Path,
    *,
    most_frequent: int | None = None,
    fold_case: bool = True,
    seed: int = 0,
) -> SimilarityScore:
    """Compare the vectors with people's judgements in a file such as WordSim-353.

    `most_frequent` looks only through so many words; `fold_case` takes Tiger for tiger;
    `seed` is that of the bootstrap that gives the interval.
    """
    asked = read_pairs(pairs)
    among = restricted(vectors, most_frequent)
    words = [word for pair in asked.pairs for word in pair[:2]]
    answers = answer(among, words, fold_case=fold_case)
    cosines, answered = compared(answers)
    scores = np.array([pair.score for pair in asked.pairs])
    built = answers.is_built.reshape(-1, 2).any(axis=1) & answered
    lost = dict.fromkeys(
        word for word, known in zip(words, answers.is_known, strict=True) if not known
    )
    return SimilarityScore(
        asked.name,
        correlation(cosines[answered], scores[answered], len(scores), seed),
        int(built.sum()),
        tuple(lost),
    )


def compared(answers: Answers) -> tuple[Float64Array, BoolArray]:
    """The cosine of words 0 and 1, 2 and 3, …, and whether both have a vector."""
    pairs = answers.directions.reshape(-1, 2, answers.directions.shape[1])
    cosines: Float64Array = np.round((pairs[:, 0] * pairs[:, 1]).sum(axis=1), DIGITS)
    one, other = answers.is_known.reshape(-1, 2).T
    return cosines, one & other
