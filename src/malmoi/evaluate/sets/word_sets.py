"""Test sets from files: pairs of words with a score, or analogies; told by content.

Pairs: two words and a number in columns set apart by tabs, commas or spaces, with or without
a header; further columns are left alone. Analogies: four words a line under `: section` lines.
Lines that begin with # are comments. Knows nothing of vectors.
"""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from malmoi.errors import InvalidFileError
from malmoi.evaluate.sets.test_file import is_number, name_of, number, read_text

LONGEST = 10_000  # characters of a line that may hold quoted fields
SYNTACTIC = ("gram", "syn")  # how sections on grammar begin, in Google's set and the Korean one
WANTED = "'word word score' lines or analogies of four words under ': section' lines"

Question = tuple[str, str, str, str]
Line = tuple[int, str]  # with its number


class WordPair(NamedTuple):
    """Two words and how similar people find them."""

    one: str
    other: str
    score: float


@dataclass(frozen=True)
class SimilaritySet:
    """Pairs of words that people have judged."""

    name: str
    pairs: tuple[WordPair, ...]


@dataclass(frozen=True)
class AnalogySection:
    """Questions of one kind: the first is to the second as the third to the fourth."""

    name: str
    questions: tuple[Question, ...]

    @property
    def is_syntactic(self) -> bool:
        """Whether it asks for forms of words instead of facts."""
        return self.name.startswith(SYNTACTIC)


@dataclass(frozen=True)
class AnalogySet:
    """Analogies in sections."""

    name: str
    sections: tuple[AnalogySection, ...]


TestSet = SimilaritySet | AnalogySet


def read_set(path: str | Path) -> TestSet:
    """A test set, whichever kind it is."""
    path = Path(path)
    lines = _lines(path)
    name = name_of(path)
    if any(line.startswith(":") for _, line in lines):
        return AnalogySet(name, _sections(path, lines))
    rows = _columns(lines)
    column = _score_column(rows)
    if column is not None:
        return SimilaritySet(name, _pairs(path, lines, rows, column))
    if all(len(line.split()) == 4 for _, line in lines):
        return AnalogySet(name, _sections(path, lines))
    raise InvalidFileError(f"{path} is no test of vectors: it should hold {WANTED}")


def read_pairs(given: SimilaritySet | str | Path) -> SimilaritySet:
    """A set of pairs, from a file if need be."""
    found = read_set(given) if isinstance(given, str | Path) else given
    if not isinstance(found, SimilaritySet):
        raise InvalidFileError(f"{given} holds analogies, not pairs of words with scores")
    return found


def read_analogies(given: AnalogySet | str | Path) -> AnalogySet:
    """A set of analogies, from a file if need be."""
    found = read_set(given) if isinstance(given, str | Path) else given
    if not isinstance(found, AnalogySet):
        raise InvalidFileError(f"{given} holds pairs of words with scores, not analogies")
    return found


def _lines(path: Path) -> list[Line]:
    """Lines that hold something, in NFC."""
    stripped = ((i, line.strip()) for i, line in enumerate(read_text(path).splitlines(), 1))
    lines = [(i, line) for i, line in stripped if line and not line.startswith("#")]
    if not lines:
        raise InvalidFileError(f"{path} has no lines to test with: it should hold {WANTED}")
    return lines


def _columns(lines: list[Line]) -> list[list[str]]:
    """Lines cut at tabs, commas or spaces: the first of them that most lines hold twice."""
    for separator in "\t,":
        if 2 * sum(line.count(separator) >= 2 for _, line in lines) > len(lines):
            return [_fields(line, separator) for _, line in lines]
    return [line.split() for _, line in lines]


def _fields(line: str, separator: str) -> list[str]:
    """The fields of one line; only between commas can they be quoted."""
    quoted = separator == "," and '"' in line and len(line) < LONGEST
    fields = next(csv.reader([line])) if quoted else line.split(separator)
    return [field.strip() for field in fields]


def _score_column(rows: list[list[str]]) -> int | None:
    """The first column after the words that holds numbers, in half of the rows at least.

    None if the words are numbers already: then it is a file of vectors or of something else.
    """
    for column in range(1, max(map(len, rows))):
        numbers = sum(len(row) > column and number(row[column]) is not None for row in rows)
        if numbers and 2 * numbers >= len(rows):
            return column if column > 1 else None
    return None


def _pairs(
    path: Path, lines: list[Line], rows: list[list[str]], column: int
) -> tuple[WordPair, ...]:
    pairs = []
    for i, ((at, line), row) in enumerate(zip(lines, rows, strict=True)):
        row = row + [""] * (column + 1 - len(row))
        score = number(row[column])
        if score is not None and row[0] and row[1]:
            pairs.append(WordPair(row[0], row[1], score))
        elif i > 0 or is_number(row[column]):  # the first may be a header
            raise InvalidFileError(f"{path}:{at}: '{line}' should be two words and a number")
    return tuple(pairs)


def _sections(path: Path, lines: list[Line]) -> tuple[AnalogySection, ...]:
    sections: list[tuple[str, list[Question]]] = []
    for at, line in lines:
        if line.startswith(":"):
            sections.append((line[1:].strip(), []))
            continue
        words = line.split()
        if len(words) != 4:
            raise InvalidFileError(f"{path}:{at}: '{line}' should be four words")
        if not sections:
            sections.append(("all", []))
        sections[-1][1].append((words[0], words[1], words[2], words[3]))
    return tuple(AnalogySection(name, tuple(questions)) for name, questions in sections)
