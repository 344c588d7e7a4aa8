"""Records from files: a text with its other fields and its location.

A record is a line of a plain file, an object of JSON lines, a row of a table or of Parquet, or a
whole file.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from malmoi.errors import InvalidArgumentError, InvalidFileError, check_encoding
from malmoi.text.corpus import STANDARD_INPUT, open_reader, standard_input, text_files
from malmoi.text.readers import (
    DocumentReader,
    JsonLinesReader,
    ParquetReader,
    TableReader,
    open_parquet,
    text_lines,
)


@dataclass(frozen=True)
class Record:
    """A text; `location` is `file:line` or the file, `fields` all other fields."""

    location: str
    text: str
    fields: Mapping[str, Any]


def read_records(
    source: str | Path,
    *,
    fields: Sequence[str] = (),
    keep: Sequence[str] | None = None,
    encoding: str = "utf-8",
    whole: bool = False,
) -> Iterator[Record]:
    """The records of a file, of a folder of files, or of standard input (`-`).

    `fields` are the fields or columns that make up the text, joined by a space; `keep` are the
    other fields of a record, by default all. `whole` makes one text of each plain file, instead of
    one per line.
    """
    check_encoding(encoding)
    is_piped = str(source) == STANDARD_INPUT
    path = standard_input() if is_piped else Path(source)
    files, top = (text_files(path), path) if path.is_dir() else ([path], path.parent)
    for file in files:
        reader = open_reader(file, fields[0] if fields else None, encoding)
        name = "stdin" if is_piped else file.relative_to(top).as_posix()
        if whole and not isinstance(reader, JsonLinesReader | TableReader | ParquetReader):
            text = "\n".join(line for line, _ in text_lines(file, encoding))
            yield Record(name, text, {})
            continue
        yield from _records(reader, name, fields, keep, encoding)


def _records(
    reader: DocumentReader,
    name: str,
    fields: Sequence[str],
    keep: Sequence[str] | None,
    encoding: str,
) -> Iterator[Record]:
    if isinstance(reader, JsonLinesReader):
        for number, value, _ in reader.objects():
            if not isinstance(value, dict):
                raise InvalidFileError(f"{reader.path}:{number}: this is not a JSON object")
            yield _record(f"{name}:{number}", value, fields, keep)
    elif isinstance(reader, TableReader):
        rows = reader.rows()
        _, header, _ = next(rows)
        _check_columns(header, fields, reader.path)
        for number, row, _ in rows:
            if row:
                value = dict(zip(header, row, strict=False))
                yield _record(f"{name}:{number}", value, fields, keep)
    elif isinstance(reader, ParquetReader):
        for number, value in enumerate(_parquet_rows(reader.path, fields, keep), 1):
            yield _record(f"{name}:{number}", value, fields, keep)
    else:
        for number, (line, _) in enumerate(text_lines(reader.path, encoding), 1):
            text = line.removeprefix("\ufeff") if number == 1 else line  # a byte order mark
            yield Record(f"{name}:{number}", text.removesuffix("\r"), {})


def _record(
    location: str, value: Mapping[str, Any], fields: Sequence[str], keep: Sequence[str] | None
) -> Record:
    """Join some fields to one text; fields that are null or absent are skipped."""
    texts = [str(value[name]) for name in fields if value.get(name) is not None]
    if not texts and not any(name in value for name in fields):
        raise InvalidFileError(f"{location}: there is no field '{fields[0]}'")
    names = [name for name in value if name not in fields] if keep is None else keep
    others = {name: value.get(name) for name in names}
    return Record(location, " ".join(text for text in texts if text.strip()), others)


def _parquet_rows(
    path: Path, fields: Sequence[str], keep: Sequence[str] | None
) -> Iterator[dict[str, Any]]:
    columns = None if keep is None else [*dict.fromkeys([*fields, *keep])]
    with open_parquet(path) as file:
        _check_columns(file.schema_arrow.names, [*fields, *(keep or ())], path)
        for batch in file.iter_batches(columns=columns):
            yield from batch.to_pylist()


def _check_columns(names: Sequence[str], fields: Sequence[str], path: Path) -> None:
    for field in fields:
        if field not in names:
            raise InvalidArgumentError(f"{path} has no column '{field}': it has {', '.join(names)}")
