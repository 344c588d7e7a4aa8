"""Everything that can be asked of word vectors, in one go."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from malmoi.evaluate.analogies import MOST_FREQUENT, AnalogyScore, analogies
from malmoi.evaluate.sets.locate_sets import find_sets
from malmoi.evaluate.sets.word_sets import AnalogySet, SimilaritySet, TestSet
from malmoi.evaluate.similarity import SimilarityScore, word_similarity
from malmoi.evaluate.typo_robustness import TypoScore, typo_robustness
from malmoi.query.analogy import Method
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors


@dataclass(frozen=True)
class WordScores:
    """What was measured of some vectors, a score for each test set."""

    similarity: tuple[SimilarityScore, ...]
    analogies: tuple[AnalogyScore, ...]
    typos: tuple[TypoScore, ...]


def evaluate_words(
    vectors: Vectors,
    files: Iterable[str | Path | TestSet] | str | Path | None = None,
    *,
    typos: bool = False,
    method: Method = "add",
    most_frequent: int | None = None,
    fold_case: bool = True,
    seed: int = 0,
    progress: Progress = no_progress,
) -> WordScores:
    """Run every test of `files`, told by their content, or of all that are found.

    With `typos`, similarity is measured once more with a typo in each word. `most_frequent`
    restricts all tests to so many words; without it, analogies alone look through 300,000.
    `seed` is that of the bootstrap behind the intervals, and of the typos.
    """
    sets = find_sets(files)
    pairs = [one for one in sets if isinstance(one, SimilaritySet)]
    questions = [one for one in sets if isinstance(one, AnalogySet)]
    similarity = [
        word_similarity(vectors, one, most_frequent=most_frequent, fold_case=fold_case, seed=seed)
        for one in pairs
    ]
    kept = [
        typo_robustness(vectors, one, most_frequent=most_frequent, fold_case=fold_case, seed=seed)
        for one in (pairs if typos else [])
    ]
    answered = []
    for i, one in enumerate(questions):  # these take long, the others do not
        score = analogies(
            vectors,
            one,
            method=method,
            most_frequent=MOST_FREQUENT if most_frequent is None else most_frequent,
            fold_case=fold_case,
            progress=_part_of(progress, i, len(questions)),
        )
        answered.append(score)
    return WordScores(tuple(similarity), tuple(answered), tuple(kept))


def _part_of(progress: Progress, part: int, parts: int) -> Progress:
    """Progress within one of several pieces of work, told as progress of the whole."""
    return lambda done, total: progress(part * total + done, parts * total)
