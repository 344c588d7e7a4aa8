"""Word test sets from files: pairs of words with a score, or analogies.

The kind is detected from the content. Pairs: two words and a number in columns separated by tabs,
commas or spaces, with or without a header; further columns are ignored. Analogies: four words per
line under `: section` lines. Lines that begin with # are comments. Knows nothing of vectors.
"""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from malmoi.arguments import expect_path
from malmoi.errors import InvalidFileError
from malmoi.evaluate.sets.test_file import is_number, parse_number, read_text, set_name

MAX_QUOTED_LINE_CHARS = 10_000  # longer lines are split without regard to quotes
SYNTACTIC_PREFIXES = ("gram", "syn")  # of sections on grammar, in Google's set and the Korean one
EXPECTED_LINES = "'word word score' lines or analogies of four words under ': section' lines"

Question = tuple[str, str, str, str]
Line = tuple[int, str]  # line number and text


class WordPair(NamedTuple):
    """Two words and their similarity as judged by people."""

    one: str
    other: str
    score: float


@dataclass(frozen=True)
class SimilaritySet:
    """Pairs of words with human scores."""

    name: str
    pairs: tuple[WordPair, ...]


@dataclass(frozen=True)
class AnalogySection:
    """Questions of one kind: the first is to the second as the third to the fourth."""

    name: str
    questions: tuple[Question, ...]

    @property
    def is_syntactic(self) -> bool:
        """Whether the questions are about word forms instead of facts."""
        return self.name.startswith(SYNTACTIC_PREFIXES)


@dataclass(frozen=True)
class AnalogySet:
    """Analogies in sections."""

    name: str
    sections: tuple[AnalogySection, ...]


TestSet = SimilaritySet | AnalogySet


def read_set(path: str | Path) -> TestSet:
    """Read a test set of either kind."""
    path = Path(path)
    lines = _lines(path)
    name = set_name(path)
    if any(line.startswith(":") for _, line in lines):
        return AnalogySet(name, _sections(path, lines))
    rows = _columns(lines)
    column = _score_column(rows)
    if column is not None:
        return SimilaritySet(name, _pairs(path, lines, rows, column))
    if all(len(line.split()) == 4 for _, line in lines):
        return AnalogySet(name, _sections(path, lines))
    raise InvalidFileError(f"{path} is not a test set: expected {EXPECTED_LINES}")


def read_pairs(source: SimilaritySet | str | Path) -> SimilaritySet:
    """A set of pairs, read from a file unless it is a set already."""
    test = source if isinstance(source, TestSet) else read_set(expect_path(source, "pairs"))
    if not isinstance(test, SimilaritySet):
        raise InvalidFileError(f"{source} holds analogies, not pairs of words with scores")
    return test


def read_analogies(source: AnalogySet | str | Path) -> AnalogySet:
    """A set of analogies, read from a file unless it is a set already."""
    test = source if isinstance(source, TestSet) else read_set(expect_path(source, "questions"))
    if not isinstance(test, AnalogySet):
        raise InvalidFileError(f"{source} holds pairs of words with scores, not analogies")
    return test


def _lines(path: Path) -> list[Line]:
    """The lines that are neither empty nor comments, in NFC."""
    stripped = ((i, line.strip()) for i, line in enumerate(read_text(path).splitlines(), 1))
    lines = [(i, line) for i, line in stripped if line and not line.startswith("#")]
    if not lines:
        raise InvalidFileError(f"{path} is empty: expected {EXPECTED_LINES}")
    return lines


def _columns(lines: list[Line]) -> list[list[str]]:
    """Split lines at tabs, commas or spaces: the first that most lines hold twice."""
    for separator in "\t,":
        if 2 * sum(line.count(separator) >= 2 for _, line in lines) > len(lines):
            return [_fields(line, separator) for _, line in lines]
    return [line.split() for _, line in lines]


def _fields(line: str, separator: str) -> list[str]:
    """The fields of one line; only fields between commas can be quoted."""
    quoted = separator == "," and '"' in line and len(line) < MAX_QUOTED_LINE_CHARS
    fields = next(csv.reader([line])) if quoted else line.split(separator)
    return [field.strip() for field in fields]


def _score_column(rows: list[list[str]]) -> int | None:
    """The first column after the words that holds numbers in at least half of the rows.

    None if the second column holds numbers already, as in a file of vectors.
    """
    for column in range(1, max(map(len, rows))):
        numbers = sum(len(row) > column and parse_number(row[column]) is not None for row in rows)
        if numbers and 2 * numbers >= len(rows):
            return column if column > 1 else None
    return None


def _pairs(
    path: Path, lines: list[Line], rows: list[list[str]], column: int
) -> tuple[WordPair, ...]:
    pairs = []
    for i, ((line_number, line), row) in enumerate(zip(lines, rows, strict=True)):
        row = row + [""] * (column + 1 - len(row))
        score = parse_number(row[column])
        if score is not None and row[0] and row[1]:
            pairs.append(WordPair(row[0], row[1], score))
        elif i > 0 or is_number(row[column]):  # the first may be a header
            raise InvalidFileError(
                f"{path}:{line_number}: expected two words and a number; got '{line}'"
            )
    return tuple(pairs)


def _sections(path: Path, lines: list[Line]) -> tuple[AnalogySection, ...]:
    sections: list[tuple[str, list[Question]]] = []
    for line_number, line in lines:
        if line.startswith(":"):
            sections.append((line[1:].strip(), []))
            continue
        words = line.split()
        if len(words) != 4:
            raise InvalidFileError(f"{path}:{line_number}: expected four words; got '{line}'")
        if not sections:
            sections.append(("all", []))
        sections[-1][1].append((words[0], words[1], words[2], words[3]))
    return tuple(AnalogySection(name, tuple(questions)) for name, questions in sections)
