"""Analogies: how often is the expected fourth word the nearest one?

As in Google's test and in gensim, the three words of the question cannot be the answer, and a
question with a word outside the restricted vocabulary is skipped and counted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.completion import complete_analogies
from malmoi.evaluate.lookup import fold_word, rows_by_folded_word
from malmoi.evaluate.scores import SCORE_HEADER, Score, accuracy
from malmoi.evaluate.sets.word_sets import AnalogySection, AnalogySet, read_analogies
from malmoi.query.analogy import AnalogyMethod
from malmoi.query.directions import restrict
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.table import Table, Tabular
from malmoi.vectors import Vectors, expect_vectors

DEFAULT_RESTRICT_VOCAB = 300_000


@dataclass(frozen=True)
class SectionScore:
    """The accuracy of one section."""

    name: str
    is_syntactic: bool
    correct: int
    accuracy: Score


@dataclass(frozen=True, repr=False)
class AnalogyScore(Tabular):
    """Accuracies by section, by kind of question, and over all questions."""

    name: str
    method: AnalogyMethod
    sections: tuple[SectionScore, ...]

    @property
    def total(self) -> Score:
        """Over all questions."""
        return _summed(self.sections)

    @property
    def semantic(self) -> Score:
        """Over the sections about facts."""
        return _summed(part for part in self.sections if not part.is_syntactic)

    @property
    def syntactic(self) -> Score:
        """Over the sections about word forms (gram…, syn…)."""
        return _summed(part for part in self.sections if part.is_syntactic)

    def __repr__(self) -> str:
        return f"AnalogyScore({self.name}, {len(self.sections)} sections, total={self.total})"

    def _table(self) -> Table:
        rows = [(part.name, *part.accuracy.cells) for part in self.sections]
        totals = {"semantic": self.semantic, "syntactic": self.syntactic, "total": self.total}
        rows += [(name, *score.cells) for name, score in totals.items() if score.total]
        return Table(f"Analogies: {self.name} ({self.method})", ["section", *SCORE_HEADER], rows)


def analogies(
    vectors: Vectors,
    questions: AnalogySet | str | Path,
    *,
    method: AnalogyMethod = "add",
    restrict_vocab: int | None = DEFAULT_RESTRICT_VOCAB,
    fold_case: bool = True,
    reporter: Reporter = DEFAULT_REPORTER,
) -> AnalogyScore:
    """Answer a file of analogies such as Google's questions-words.txt.

    Args:
        vectors: The vectors to evaluate.
        questions: A file of four words per line under ": section" lines, or an `AnalogySet`.
        method: "add" (3CosAdd) or "multiply" (3CosMul).
        restrict_vocab: Use only the most frequent words, this many, as questions and answers.
        fold_case: Treat Athens and athens as the same word.
        reporter: Receives the progress.

    Returns:
        Accuracies with intervals, by section and in total.

    Raises:
        InvalidFileError: The file cannot be read or does not hold analogies.
        InvalidArgumentError: The method or restrict_vocab is not valid.
    """
    expect_reporter(reporter)
    expect_vectors(vectors)
    if method not in ("add", "multiply"):
        raise InvalidArgumentError(f"method must be add or multiply; got '{method}'")
    analogy_set = read_analogies(questions)
    candidates = restrict(vectors, restrict_vocab)
    forms = [
        [fold_word(word, fold_case) for word in question]
        for section in analogy_set.sections
        for question in section.questions
    ]
    rows = rows_by_folded_word(
        candidates.keys, {word for words in forms for word in words}, fold_case
    )
    usable = {word: some for word, some in rows.items() if _has_direction(candidates, some)}
    answered = [i for i, words in enumerate(forms) if all(word in usable for word in words)]
    best_rows = complete_analogies(
        candidates.matrix,
        np.array([[usable[word][0] for word in forms[i][:3]] for i in answered]).reshape(-1, 3),
        np.array(
            [
                (n, row)
                for n, i in enumerate(answered)
                for word in forms[i][:3]
                for row in rows[word]
            ]
        ).reshape(-1, 2),
        method,
        reporter.stage("answering analogies"),
    )
    is_right = {
        i: row in usable[forms[i][3]] for i, row in zip(answered, best_rows.tolist(), strict=True)
    }
    return AnalogyScore(analogy_set.name, method, _by_section(analogy_set.sections, is_right))


def _has_direction(vectors: Vectors, rows: list[int]) -> bool:
    """Whether the first of the rows is finite and not zero."""
    if not rows:
        return False
    vector = vectors.matrix[rows[0]]
    return bool(np.isfinite(vector).all() and vector.any())


def _by_section(
    sections: Iterable[AnalogySection], is_right: dict[int, bool]
) -> tuple[SectionScore, ...]:
    """Count by section; `is_right` holds the answered questions by number."""
    scores, first = [], 0
    for section in sections:
        last = first + len(section.questions)
        results = [is_right[i] for i in range(first, last) if i in is_right]
        score = accuracy(sum(results), len(results), last - first)
        scores.append(SectionScore(section.name, section.is_syntactic, sum(results), score))
        first = last
    return tuple(scores)


def _summed(parts: Iterable[SectionScore]) -> Score:
    parts = list(parts)
    return accuracy(
        sum(part.correct for part in parts),
        sum(part.accuracy.answered for part in parts),
        sum(part.accuracy.total for part in parts),
    )
