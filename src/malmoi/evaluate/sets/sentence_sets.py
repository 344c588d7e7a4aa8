"""Pairs of sentences that people have judged, from tables and JSON lines.

.jsonl   an object a line
.tsv     set apart by tabs, nothing quoted
.csv     set apart by commas, quoted where need be

told by content. Which columns are the two texts and the score is known for the sets that people
use (STS-B, KorSTS, SICK), clear where there are three columns, and else has to be said.
"""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.sets.test_file import is_number, name_of, number, read_text

TEXTS = (
    ("sentence1", "sentence2"),
    ("sentence_A", "sentence_B"),
    ("sentence_1", "sentence_2"),
    ("text1", "text2"),
    ("text_a", "text_b"),
)
SCORES = ("score", "relatedness_score", "similarity_score", "similarity", "label")
WANTED = "two texts and a number"
SHOWN = 60  # characters of a line that is wrong

Row = tuple[int, list[Any]]  # with the number of its line
Places = tuple[int, int, int]  # of the texts and of the score


class SentencePair(NamedTuple):
    """Two texts and how similar people find them."""

    one: str
    other: str
    score: float


@dataclass(frozen=True)
class SentenceSet:
    """Pairs of texts that people have judged."""

    name: str
    pairs: tuple[SentencePair, ...]

    def __post_init__(self) -> None:
        if not self.pairs:
            raise InvalidArgumentError(f"{self.name} has no pairs: it should hold {WANTED} a line")


def read_sentences(
    given: SentenceSet | str | Path, columns: Sequence[str] | None = None
) -> SentenceSet:
    """A set of pairs, from a file if need be.

    `columns` are those of the first text, of the second and of the score: by name, or by number
    from 1 where a table has no header.
    """
    if isinstance(given, SentenceSet):
        return given
    path = Path(given)
    rows = list(_rows(path))
    if not rows:
        raise InvalidFileError(f"{path} holds nothing to test with: it should hold {WANTED} a line")
    places, first, strict = _told(path, rows, columns) if columns else _guessed(path, rows)
    width = len(rows[0][1]) if strict else None
    pairs = tuple(_pair(path, row, places, width) for row in rows[first:])
    if not pairs:
        raise InvalidFileError(f"{path} has a header and no pairs: it should hold {WANTED} a line")
    return SentenceSet(name_of(path), pairs)


def _rows(path: Path) -> Iterator[Row]:
    """The lines that hold something, each as its fields; of JSON, the names come first."""
    text = read_text(path)
    if text.lstrip().startswith("{"):
        yield from _json_rows(path, text)
    elif text.partition("\n")[0].count("\t"):
        lines = enumerate(text.split("\n"), 1)
        yield from ((i, line.rstrip("\r").split("\t")) for i, line in lines if line.strip())
    else:
        csv.field_size_limit(1 << 30)  # a long field is none that is wrong
        found = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            yield from ((found.line_num, row) for row in found if any(map(str.strip, row)))
        except csv.Error as error:
            raise InvalidFileError(f"{path}:{found.line_num}: this is no CSV ({error})") from error


def _json_rows(path: Path, text: str) -> Iterator[Row]:
    names: list[str] = []
    for i, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            said = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidFileError(f"{path}:{i}: this is no JSON ({error})") from error
        if not isinstance(said, dict):
            raise InvalidFileError(f"{path}:{i}: '{line[:SHOWN]}' is no object with fields")
        if not names:
            names = list(said)
            yield 0, list(names)
        yield i, [said.get(name) for name in names]


def _told(path: Path, rows: list[Row], columns: Sequence[str]) -> tuple[Places, int, bool]:
    """Where the columns asked for are, and which row is the first after a header."""
    if len(columns) != 3:
        raise InvalidArgumentError(
            f"the columns {', '.join(columns)} should be three: of two texts and of the score"
        )
    header = [str(name).strip() for name in rows[0][1]]
    numbered = all(name.isdecimal() and name not in header for name in columns)
    if numbered and all(1 <= int(name) <= len(header) for name in columns):
        one, other, score = (int(name) - 1 for name in columns)
        return (one, other, score), int(not is_number(header[score])), False
    for name in columns:
        if name not in header:
            raise InvalidArgumentError(f"{path} has no column '{name}': it has {_listed(header)}")
    one, other, score = (header.index(name) for name in columns)
    return (one, other, score), 1, False


def _guessed(path: Path, rows: list[Row]) -> tuple[Places, int, bool]:
    """The same from names that are known, or from which of three columns holds numbers."""
    header = [str(name).strip() for name in rows[0][1]]
    texts = next((pair for pair in TEXTS if set(pair) <= set(header)), None)
    score = next((name for name in SCORES if name in header), None)
    if texts and score:
        return (header.index(texts[0]), header.index(texts[1]), header.index(score)), 1, False
    if len(header) < 3:
        line = ",".join(header)[:SHOWN]
        raise InvalidFileError(f"{path}:{rows[0][0]}: '{line}' should be {WANTED} in columns")
    if len(header) > 3:
        raise InvalidArgumentError(
            f"which columns of {path} are the two texts and the score? It has {_listed(header)}:"
            " name them, or give their numbers from 1"
        )
    full = [row for _, row in rows if len(row) == 3]
    numbers = [sum(number(str(row[i])) is not None for row in full) for i in range(3)]
    column = next((i for i in (2, 0, 1) if 2 * numbers[i] >= len(full) - 1 and numbers[i]), None)
    if column is None:
        raise InvalidFileError(f"{path} has no column of numbers: it should hold {WANTED} a line")
    one, other = (i for i in range(3) if i != column)
    return (one, other, column), int(not is_number(header[column])), True


def _pair(path: Path, row: Row, places: Places, width: int | None) -> SentencePair:
    at, fields = row
    if len(fields) > max(places) and width in (None, len(fields)):
        one, other, score = (fields[place] for place in places)
        value = number(str(score))
        if value is not None and _is_text(one) and _is_text(other):
            return SentencePair(one.strip(), other.strip(), value)
    line = ", ".join(map(str, fields))
    shown = line if len(line) <= SHOWN else f"{line[:SHOWN]}…"
    raise InvalidFileError(f"{path}:{at}: '{shown}' should be {WANTED}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _listed(names: Sequence[str]) -> str:
    return ", ".join(name[:SHOWN] for name in names)
