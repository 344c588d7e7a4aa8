"""All evaluations of word vectors in one call."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from malmoi.evaluate.analogies import DEFAULT_RESTRICT_VOCAB, AnalogyScore, analogies
from malmoi.evaluate.scores import SCORE_HEADER
from malmoi.evaluate.sets.locate_sets import find_sets
from malmoi.evaluate.sets.word_sets import AnalogySet, SimilaritySet, TestSet
from malmoi.evaluate.similarity import SimilarityScore, word_similarity
from malmoi.evaluate.typo_robustness import TypoScore, typo_robustness
from malmoi.query.analogy import AnalogyMethod
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.table import Table, Tabular
from malmoi.vectors import Vectors, expect_vectors


@dataclass(frozen=True, repr=False)
class WordScores(Tabular):
    """The scores of some vectors, one per test set."""

    similarity: tuple[SimilarityScore, ...]
    analogies: tuple[AnalogyScore, ...]
    typos: tuple[TypoScore, ...]

    def __repr__(self) -> str:
        return self._table().text()

    def _table(self) -> Table:
        rows = [(one.name, "similarity (Spearman)", *one.spearman.cells) for one in self.similarity]
        rows += [(one.name, "analogies (accuracy)", *one.total.cells) for one in self.analogies]
        rows += [(one.name, "retained with typos", *one.retained.cells) for one in self.typos]
        return Table("Evaluation of word vectors", ["set", "test", *SCORE_HEADER], rows)


def evaluate_words(
    vectors: Vectors,
    files: Iterable[str | Path | TestSet] | str | Path | None = None,
    *,
    typos: bool = False,
    method: AnalogyMethod = "add",
    restrict_vocab: int | None = None,
    fold_case: bool = True,
    seed: int = 0,
    reporter: Reporter = DEFAULT_REPORTER,
) -> WordScores:
    """Run every test of `files`, or of all installed test sets.

    Args:
        vectors: The vectors to evaluate.
        files: Test sets or their files, whose kind is detected from the content. Without any, the
            files below $MALMOI_DATA/words and those that gensim installs.
        typos: Measure word similarity once more with a typo in each word.
        method: How analogies are answered: "add" (3CosAdd) or "multiply" (3CosMul).
        restrict_vocab: Use only the most frequent words, this many. Without it, analogies use
            300,000 and the other tests all words.
        fold_case: Treat Tiger and tiger as the same word.
        seed: Seed of the typos and of the bootstrap behind the intervals.
        reporter: Receives the progress.

    Returns:
        One score per test set.

    Raises:
        InvalidFileError: A file cannot be read or is not a test set.
        InvalidArgumentError: There are no test sets, or an argument is not valid.
    """
    expect_reporter(reporter)
    expect_vectors(vectors)
    sets = find_sets(files)
    pairs = [one for one in sets if isinstance(one, SimilaritySet)]
    questions = [one for one in sets if isinstance(one, AnalogySet)]
    similarity = [
        word_similarity(vectors, one, restrict_vocab=restrict_vocab, fold_case=fold_case, seed=seed)
        for one in pairs
    ]
    retained = [
        typo_robustness(vectors, one, restrict_vocab=restrict_vocab, fold_case=fold_case, seed=seed)
        for one in (pairs if typos else [])
    ]
    answered = []
    for one in questions:
        score = analogies(
            vectors,
            one,
            method=method,
            restrict_vocab=DEFAULT_RESTRICT_VOCAB if restrict_vocab is None else restrict_vocab,
            fold_case=fold_case,
            reporter=reporter,
        )
        answered.append(score)
    return WordScores(tuple(similarity), tuple(answered), tuple(retained))
