"""Sentence pairs with human scores, from tables and JSON lines.

.jsonl   one object per line
.tsv     fields separated by tabs, never quoted
.csv     fields separated by commas, quoted where necessary

The format is detected from the content. The columns of the two texts and the score are known for
the common sets (STS-B, KorSTS, SICK), unambiguous in tables of three columns, and otherwise an
argument.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.sets.test_file import is_number, parse_number, read_text, set_name
from malmoi.text_inputs import TableLike, TextLike, column_names, iterate, strings

TEXTS = (
    ("sentence1", "sentence2"),
    ("sentence_A", "sentence_B"),
    ("sentence_1", "sentence_2"),
    ("text1", "text2"),
    ("text_a", "text_b"),
)
SCORES = ("score", "relatedness_score", "similarity_score", "similarity", "label")
EXPECTED_FIELDS = "two texts and a number"
MAX_SHOWN_CHARS = 60  # of a line, in error messages

Row = tuple[int, list[Any]]  # line number and fields
Columns = tuple[int, int, int]  # the indices of the two texts and the score


class SentencePair(NamedTuple):
    """Two texts and their similarity as judged by people."""

    one: str
    other: str
    score: float


@dataclass(frozen=True)
class SentenceSet:
    """Pairs of texts with human scores."""

    name: str
    pairs: tuple[SentencePair, ...]

    def __post_init__(self) -> None:
        if not self.pairs:
            raise InvalidArgumentError(
                f"{self.name} has no pairs: expected {EXPECTED_FIELDS} per line"
            )

    @classmethod
    def of(
        cls,
        first: Iterable[TextLike],
        second: Iterable[TextLike],
        scores: Iterable[float],
        *,
        name: str = "pairs",
    ) -> "SentenceSet":
        """Make a set from columns.

        Args:
            first: The first text of each pair: a list, a generator, a Series or an array.
            second: The second text of each pair.
            scores: The similarity of each pair as judged by people, on any scale.
            name: The name of the set in results.

        Returns:
            The set.

        Raises:
            InvalidArgumentError: The columns differ in length, a text is not a text, or a score
                is not a finite number.
        """
        columns = list(strings(first)), list(strings(second)), list(iterate(scores, "scores"))
        if len({len(column) for column in columns}) > 1:
            texts, others, numbers = map(len, columns)
            raise InvalidArgumentError(
                f"{texts} first texts, {others} second texts and {numbers} scores: pass as many"
                " of each"
            )
        rows = enumerate(zip(*columns, strict=True), 1)
        return cls(name, tuple(SentencePair(a, b, _score(c, i)) for i, (a, b, c) in rows))


PairSource = SentenceSet | TableLike | str | Path


def read_sentences(source: PairSource, columns: Sequence[str] | None = None) -> SentenceSet:
    """A set of pairs, from a file or a table unless it is a set already.

    `columns` are those of the first text, the second text and the score: by name, or by number
    from 1 where a table has no header.
    """
    if isinstance(source, SentenceSet):
        return source
    if names := column_names(source):
        where = f"the {type(source).__name__}"
        table = cast(TableLike, source)
        values = [next(iterate(table[name]), None) for name in names]
        rows: list[Row] = [(0, list(names)), (1, values)]
        (one, other, score), *_ = (
            _named_columns(where, rows, columns) if columns else _detected_columns(where, rows)
        )
        return SentenceSet.of(table[names[one]], table[names[other]], table[names[score]])
    if not isinstance(source, str | Path):
        raise InvalidArgumentError(
            f"the pairs are a {type(source).__name__}: pass a file, a DataFrame, or"
            " SentenceSet.of(first, second, scores)"
        )
    path = Path(source)
    rows = list(table_rows(path))
    if not rows:
        raise InvalidFileError(f"{path} is empty: expected {EXPECTED_FIELDS} per line")
    indices, first, strict = (
        _named_columns(path, rows, columns) if columns else _detected_columns(path, rows)
    )
    width = len(rows[0][1]) if strict else None
    pairs = tuple(_pair(path, row, indices, width) for row in rows[first:])
    if not pairs:
        raise InvalidFileError(
            f"{path} has a header and no pairs: expected {EXPECTED_FIELDS} per line"
        )
    return SentenceSet(set_name(path), pairs)


def table_rows(path: Path) -> Iterator[Row]:
    """The fields of each line that is not empty; for JSON, a row of names comes first."""
    text = read_text(path)
    if text.lstrip().startswith("{"):
        yield from _json_rows(path, text)
    elif text.partition("\n")[0].count("\t"):
        lines = enumerate(text.split("\n"), 1)
        yield from ((i, line.rstrip("\r").split("\t")) for i, line in lines if line.strip())
    else:
        csv.field_size_limit(1 << 30)  # long fields are valid
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            yield from ((reader.line_num, row) for row in reader if any(map(str.strip, row)))
        except csv.Error as error:
            raise InvalidFileError(f"{path}:{reader.line_num}: invalid CSV ({error})") from error


def _json_rows(path: Path, text: str) -> Iterator[Row]:
    names: list[str] = []
    for i, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidFileError(f"{path}:{i}: invalid JSON ({error})") from error
        if not isinstance(record, dict):
            raise InvalidFileError(f"{path}:{i}: '{line[:MAX_SHOWN_CHARS]}' is not a JSON object")
        if not names:
            names = list(record)
            yield 0, list(names)
        yield i, [record.get(name) for name in names]


def _named_columns(
    path: Path | str, rows: list[Row], columns: Sequence[str]
) -> tuple[Columns, int, bool]:
    """The indices of named columns, the first row after the header, and whether rows must match."""
    if len(columns) != 3:
        raise InvalidArgumentError(
            f"columns must be three, of two texts and the score; got {', '.join(columns)}"
        )
    header = [str(name).strip() for name in rows[0][1]]
    numbered = all(name.isdecimal() and name not in header for name in columns)
    if numbered and all(1 <= int(name) <= len(header) for name in columns):
        one, other, score = (int(name) - 1 for name in columns)
        return (one, other, score), int(not is_number(header[score])), False
    for name in columns:
        if name not in header:
            raise InvalidArgumentError(
                f"{path} has no column '{name}': its columns are {_listed(header)}"
            )
    one, other, score = (header.index(name) for name in columns)
    return (one, other, score), 1, False


def _detected_columns(path: Path | str, rows: list[Row]) -> tuple[Columns, int, bool]:
    """The same by known names, or by which of three columns holds numbers."""
    header = [str(name).strip() for name in rows[0][1]]
    texts = next((pair for pair in TEXTS if set(pair) <= set(header)), None)
    score = next((name for name in SCORES if name in header), None)
    if texts and score:
        return (header.index(texts[0]), header.index(texts[1]), header.index(score)), 1, False
    if len(header) < 3:
        line = ",".join(header)[:MAX_SHOWN_CHARS]
        raise InvalidFileError(
            f"{path}:{rows[0][0]}: expected {EXPECTED_FIELDS} in columns; got '{line}'"
        )
    if len(header) > 3:
        raise InvalidArgumentError(
            f"the columns of the two texts and the score in {path} are ambiguous: name them, or"
            f" give their numbers from 1; it has {_listed(header)}"
        )
    full = [row for _, row in rows if len(row) == 3]
    numbers = [sum(parse_number(str(row[i])) is not None for row in full) for i in range(3)]
    column = next((i for i in (2, 0, 1) if 2 * numbers[i] >= len(full) - 1 and numbers[i]), None)
    if column is None:
        raise InvalidFileError(
            f"{path} has no column of numbers: expected {EXPECTED_FIELDS} per line"
        )
    one, other = (i for i in range(3) if i != column)
    return (one, other, column), int(not is_number(header[column])), True


def _pair(path: Path, row: Row, columns: Columns, width: int | None) -> SentencePair:
    line_number, fields = row
    if len(fields) > max(columns) and width in (None, len(fields)):
        one, other, score = (fields[column] for column in columns)
        value = parse_number(str(score))
        if value is not None and _is_text(one) and _is_text(other):
            return SentencePair(one.strip(), other.strip(), value)
    line = ", ".join(map(str, fields))
    shown = line if len(line) <= MAX_SHOWN_CHARS else f"{line[:MAX_SHOWN_CHARS]}…"
    raise InvalidFileError(f"{path}:{line_number}: expected {EXPECTED_FIELDS}; got '{shown}'")


def _score(value: object, position: int) -> float:
    number = parse_number(str(value))
    if number is None or isinstance(value, bool):
        raise InvalidArgumentError(f"score number {position} is {value!r}: pass a finite number")
    return number


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _listed(names: Sequence[str]) -> str:
    return ", ".join(name[:MAX_SHOWN_CHARS] for name in names)
