"""Word analogies and word pairs from files, with results in the shape of gensim's."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from math import exp, lgamma, log, nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.completion import complete_analogies
from malmoi.evaluate.scores import pearson, spearman
from malmoi.query.analogy import AnalogyMethod
from malmoi.vectors import Vectors, l2_normalize

Section = dict[str, Any]  # its name as "section", lists of questions as "correct", "incorrect"
METHODS: dict[str, AnalogyMethod] = {"most_similar": "add", "most_similar_cosmul": "multiply"}
ITERATIONS = 300  # of the continued fraction


class Correlation(NamedTuple):
    """A correlation, and the probability of one as large where there is none."""

    statistic: float
    pvalue: float


class FoldedWords:
    """The first words of vectors, found by their folded form."""

    def __init__(self, vectors: Vectors, restrict_vocab: int, case_insensitive: bool) -> None:
        self.fold: Callable[[str], str] = str.upper if case_insensitive else str
        self.matrix = vectors.matrix[:restrict_vocab]
        self.rows: dict[str, list[int]] = defaultdict(list)
        for row, word in enumerate(vectors.keys[:restrict_vocab]):
            self.rows[self.fold(word)].append(row)

    def knows(self, words: Sequence[str]) -> bool:
        """Whether all words, folded already, have rows."""
        return all(word in self.rows for word in words)


def evaluate_analogies(
    vectors: Vectors,
    path: str | Path,
    restrict_vocab: int,
    case_insensitive: bool,
    dummy4unknown: bool,
    similarity_function: str,
) -> tuple[float, list[Section]]:
    """The share of questions answered correctly, and the questions of each section and of all."""
    if similarity_function not in METHODS:
        raise InvalidArgumentError(
            f"similarity_function must be one of {', '.join(METHODS)}; got '{similarity_function}'"
        )
    words = FoldedWords(vectors, restrict_vocab, case_insensitive)
    answerable: list[tuple[Section, tuple[str, ...]]] = []
    sections: list[Section] = []
    for title, question in read_questions(Path(path), words.fold):
        if title:
            sections.append({"section": title, "correct": [], "incorrect": []})
        elif words.knows(question):
            answerable.append((sections[-1], question))
        elif dummy4unknown:
            sections[-1]["incorrect"].append(question)
    answers = answer_questions(words, [one for _, one in answerable], METHODS[similarity_function])
    for (section, question), answer in zip(answerable, answers, strict=True):
        section["correct" if answer in words.rows[question[3]] else "incorrect"].append(question)
    total: Section = {"section": "Total accuracy"}
    for name in ("correct", "incorrect"):
        total[name] = [question for section in sections for question in section[name]]
    count = len(total["correct"]) + len(total["incorrect"])
    return (len(total["correct"]) / count if count else 0.0), [*sections, total]


def read_questions(path: Path, fold: Callable[[str], str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Titles of sections and questions of four words, in the order of a file."""
    has_section = False
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        question = tuple(map(fold, line.split()))
        if line.startswith(": "):
            has_section = True
            yield line.lstrip(": ").strip(), ()
        elif not has_section:
            raise ValueError(f"{path} has no section before line {number}")
        elif len(question) == 4:
            yield "", question


def answer_questions(
    words: FoldedWords, questions: list[tuple[str, ...]], method: AnalogyMethod
) -> list[int]:
    """The row that answers each question; never a form of the words in the question."""
    if not questions:
        return []
    rows = np.array([[words.rows[word][0] for word in one[:3]] for one in questions])
    excluded = [
        (number, row)
        for number, question in enumerate(questions)
        for word in {*question[:3]}
        for row in words.rows[word]
    ]
    answers = complete_analogies(words.matrix, rows, np.array(excluded), method)
    return [int(answer) for answer in answers]


def evaluate_pairs(
    vectors: Vectors,
    path: str | Path,
    delimiter: str,
    encoding: str,
    restrict_vocab: int,
    case_insensitive: bool,
    dummy4unknown: bool,
) -> tuple[Correlation, Correlation, float]:
    """Pearson's and Spearman's correlation, and the percentage of pairs with unknown words."""
    words = FoldedWords(vectors, restrict_vocab, case_insensitive)
    human, cosines, unknown = [], [], 0
    for line in Path(path).read_text(encoding).splitlines():
        fields = [] if line.startswith("#") else line.split(delimiter)
        try:
            one, other, score = fields[0], fields[1], float(fields[2])
        except (IndexError, ValueError):
            continue
        pair = (words.fold(one), words.fold(other))
        if words.knows(pair):
            rows = l2_normalize(words.matrix[[words.rows[word][0] for word in pair]])
            cosines.append(float(rows[0] @ rows[1]))
        else:
            unknown += 1
            if not dummy4unknown:
                continue
            cosines.append(0.0)
        human.append(score)
    if not human:
        raise ValueError(f"{path} has no pair of known words with a score")
    scores, judged = np.array(human), np.array(cosines)
    total = len(human) + (0 if dummy4unknown else unknown)
    return (
        with_pvalue(pearson(scores, judged), len(human)),
        with_pvalue(spearman(scores, judged), len(human)),
        100 * unknown / total,
    )


def with_pvalue(value: float | None, count: int) -> Correlation:
    """A correlation with its two-sided p-value, by Student's t with count - 2 degrees."""
    if value is None or count < 3:
        return Correlation(nan if value is None else value, nan)
    if abs(value) >= 1:
        return Correlation(value, 0.0)
    return Correlation(value, incomplete_beta(1 - value * value, (count - 2) / 2, 0.5))


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function, by Lentz's continued fraction."""
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    d = 1 / (1 - (a + b) * x / (a + 1))
    c, value = 1.0, d
    for m in range(1, ITERATIONS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + term * d), 1 + term / c
            value *= c * d
    return front * value
