"""Rows of examples from files, tables and lists, with the place of each row.

CSV, TSV and JSON lines are detected from the content, Parquet from the suffix. Rows that cannot
be used are skipped and counted. Knows nothing of what the columns mean.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.sets.test_file import set_name
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text.readers import TabSeparated, open_parquet, text_lines
from malmoi.text_inputs import TableLike, column_names, iterate

UNDECODED = re.compile("[\udc80-\udcff]+")  # as `surrogateescape` writes bytes of no character
REPLACEMENT = "\ufffd"  # of these; a valid file may contain it too
MAX_LINES_SHOWN = 5  # of skipped rows
TableRow = tuple[int, list[Any]]  # line number, or row number from 1, and fields


@dataclass(frozen=True)
class SkippedRows:
    """Rows that were not used: the numbers of their lines by reason."""

    lines: dict[str, list[int]] = field(default_factory=dict)

    def add(self, reason: str, line: int) -> None:
        """Count one more row."""
        self.lines.setdefault(reason, []).append(line)

    def report(self, source: str, reporter: Reporter) -> None:
        """Warn of the rows, one sentence per reason."""
        for reason, lines in self.lines.items():
            shown = ", ".join(map(str, lines[:MAX_LINES_SHOWN]))
            more = ", …" if len(lines) > MAX_LINES_SHOWN else ""
            what, where = ("row", "line") if len(lines) == 1 else ("rows", "lines")
            reporter.warn(
                f"{source}: {len(lines):,} {what} skipped: {reason} ({where} {shown}{more})"
            )


@dataclass(frozen=True)
class TableRows:
    """Rows of fields; `names` is None where there is none, or the first row may hold them."""

    source: str  # for messages
    name: str
    names: tuple[str, ...] | None
    rows: list[TableRow]
    skipped: SkippedRows


DataSource = str | Path | TableLike | Sequence[Sequence[Any]] | Sequence[Mapping[str, Any]]


def read_table(source: DataSource, reporter: Reporter = DEFAULT_REPORTER) -> TableRows:
    """The rows of a file, of a DataFrame or Arrow table, or of a list of tuples or dicts.

    `reporter` receives a warning where a file is not UTF-8.

    Raises:
        InvalidFileError: The file cannot be read, or has no rows.
        InvalidArgumentError: The value is none of these.
    """
    skipped = SkippedRows()
    if isinstance(source, str | Path):
        table = _file_rows(Path(source), skipped, reporter)
    elif names := column_names(source):
        columns = [iterate(source[name]) for name in names]  # type: ignore[call-overload,index]
        kind = type(source).__name__
        rows = [(number, list(row)) for number, row in enumerate(zip(*columns, strict=True), 1)]
        table = TableRows(f"the {kind}", kind, tuple(names), rows, skipped)
    else:
        table = _list_rows(source, skipped)
    if not table.rows:
        raise InvalidFileError(f"{table.source} has no rows: pass examples with texts")
    return table


def _file_rows(path: Path, skipped: SkippedRows, reporter: Reporter) -> TableRows:
    name = set_name(path)
    if path.suffix == ".parquet":
        with open_parquet(path) as file:
            names = tuple(file.schema_arrow.names)
            values = (row for batch in file.iter_batches() for row in batch.to_pylist())
            rows = [(number, list(row.values())) for number, row in enumerate(values, 1)]
        return TableRows(str(path), name, names, rows, skipped)
    lines = _decoded_lines(path, reporter)
    first = next((line.lstrip("\ufeff") for line in lines if line.strip()), "")
    if first.startswith("{"):
        objects = list(_json_objects(lines, skipped))
        return TableRows(str(path), name, *_from_mappings(objects), skipped)
    dialect = TabSeparated if "\t" in first else csv.excel
    return TableRows(str(path), name, None, list(_csv_rows(path, lines, dialect)), skipped)


def _decoded_lines(path: Path, reporter: Reporter) -> list[str]:
    """The lines of a file in UTF-8, or else in CP949 or Windows-1252 (Latin-1) if that fits."""
    lines, damaged = _lines(path, "utf-8")
    if not damaged:
        return lines
    others, damaged_others = _lines(path, "cp949")
    if not damaged_others:
        reporter.warn(f"{path} is not UTF-8 and was read as CP949")
        return others
    if 2 * damaged > sum(not line.isascii() for line in lines):
        reporter.warn(f"{path} is not UTF-8 and was read as Windows-1252")
        return _lines(path, "cp1252")[0]
    reporter.warn(f"{path} is not UTF-8: characters in {damaged:,} lines cannot be read")
    return lines


def _lines(path: Path, encoding: str) -> tuple[list[str], int]:
    """The lines, and how many of them have bytes that are not of this encoding."""
    lines = [line for line, _ in text_lines(path, encoding, errors="surrogateescape")]
    damaged = [i for i, line in enumerate(lines) if UNDECODED.search(line)]
    for i in damaged:
        lines[i] = UNDECODED.sub(REPLACEMENT, lines[i])
    return lines, len(damaged)


def _json_objects(
    lines: Iterable[str], skipped: SkippedRows
) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line.removeprefix("\ufeff"))
        except (json.JSONDecodeError, RecursionError):
            value = None
        if isinstance(value, dict):
            yield number, value
        else:
            skipped.add("not a JSON object", number)


def _csv_rows(path: Path, lines: list[str], dialect: type[csv.Dialect]) -> Iterator[TableRow]:
    csv.field_size_limit(1 << 30)  # long fields are valid
    reader = csv.reader((f"{line}\n" for line in lines), dialect)
    try:
        for fields in reader:
            if any(map(str.strip, fields)):
                yield reader.line_num, [each.strip("\ufeff\r ") for each in fields]
    except csv.Error as error:
        raise InvalidFileError(
            f"{path}:{reader.line_num}: this is not a valid row ({error})"
        ) from error


def _list_rows(source: object, skipped: SkippedRows) -> TableRows:
    kind = f"the {type(source).__name__}"
    items = list(enumerate(iterate(source, "examples"), 1))
    if items and all(isinstance(item, Mapping) for _, item in items):
        return TableRows(kind, "examples", *_from_mappings(items), skipped)
    rows: list[TableRow] = []
    for number, item in items:
        if not isinstance(item, list | tuple):
            raise InvalidArgumentError(
                f"example number {number} is {item!r}: pass tuples of texts and a label, such as"
                " ('a text', 'another', 0.8), dicts, a table or the path of a file"
            )
        rows.append((number, list(item)))
    return TableRows(kind, "examples", None, rows, skipped)


def _from_mappings(
    items: Sequence[tuple[int, Mapping[str, Any]]],
) -> tuple[tuple[str, ...], list[TableRow]]:
    names = tuple(dict.fromkeys(str(name) for _, item in items for name in item))
    return names, [(number, [item.get(name) for name in names]) for number, item in items]
