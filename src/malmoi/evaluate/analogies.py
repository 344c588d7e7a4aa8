"""Analogies: how often is the right fourth word the nearest one?

As in Google's test and gensim's: the three words asked with cannot be the answer, and a
question of which a word is not among the most frequent ones is left out and counted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.completion import complete
from malmoi.evaluate.lookup import form, restricted, rows_by_form
from malmoi.evaluate.scores import Score, accuracy
from malmoi.evaluate.sets.word_sets import AnalogySection, AnalogySet, read_analogies
from malmoi.query.analogy import Method
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors

MOST_FREQUENT = 300_000


@dataclass(frozen=True)
class SectionScore:
    """The accuracy in one section."""

    name: str
    is_syntactic: bool
    correct: int
    accuracy: Score


@dataclass(frozen=True)
class AnalogyScore:
    """Accuracies by section and over all questions of a kind."""

    name: str
    method: Method
    sections: tuple[SectionScore, ...]

    @property
    def total(self) -> Score:
        """Over all questions."""
        return _summed(self.sections)

    @property
    def semantic(self) -> Score:
        """Over the sections that ask for facts."""
        return _summed(part for part in self.sections if not part.is_syntactic)

    @property
    def syntactic(self) -> Score:
        """Over the sections that ask for forms of words (gram…, syn…)."""
        return _summed(part for part in self.sections if part.is_syntactic)


def analogies(
    vectors: Vectors,
    questions: AnalogySet | str | Path,
    *,
    method: Method = "add",
    most_frequent: int | None = MOST_FREQUENT,
    fold_case: bool = True,
    progress: Progress = no_progress,
) -> AnalogyScore:
    """Answer a file of analogies such as Google's questions-words.txt.

    `method` is 3CosAdd ("add") or 3CosMul ("multiply"); only the `most_frequent` words are
    asked and looked through; `fold_case` takes Athens for athens.
    """
    if method not in ("add", "multiply"):
        raise InvalidArgumentError(f"'{method}' is no method: choose add or multiply")
    asked = read_analogies(questions)
    among = restricted(vectors, most_frequent)
    forms = [
        [form(word, fold_case) for word in question]
        for section in asked.sections
        for question in section.questions
    ]
    rows = rows_by_form(among.keys, {word for words in forms for word in words}, fold_case)
    usable = {word: places for word, places in rows.items() if _points(among, places)}
    answered = [i for i, words in enumerate(forms) if all(word in usable for word in words)]
    found = complete(
        among.matrix,
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
        progress,
    )
    is_right = {
        i: row in usable[forms[i][3]] for i, row in zip(answered, found.tolist(), strict=True)
    }
    return AnalogyScore(asked.name, method, _by_section(asked.sections, is_right))


def _points(vectors: Vectors, rows: list[int]) -> bool:
    """Whether the first of the rows has a direction to ask with."""
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
