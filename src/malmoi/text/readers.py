"""Readers of documents, one per kind of file: plain text, JSON lines, tables, Parquet.

A reader yields the original documents, or blocks of UTF-8 with one document per line, in which a
line break inside a document becomes a space. Knows nothing about words.
"""

import codecs
import csv
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from malmoi.arrays import UInt8Array
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.extras import require
from malmoi.files.source import InputFile

BLOCK_BYTES = 4 << 20
LINE_SUFFIXES = (".txt", ".text", ".jsonl", ".csv", ".tsv")
TEXT_SUFFIXES = (*LINE_SUFFIXES, ".parquet")
COMPRESSED_SUFFIXES = (".gz", ".zst")
LINE_BREAKS = str.maketrans("\n\r", "  ")

ByteBlocks = Iterator[tuple[UInt8Array, int]]  # each with the bytes of the file read so far
Documents = Iterator[tuple[str, int]]


class TabSeparated(csv.excel_tab):
    """Tab-separated values without quoting: a quotation mark is an ordinary character."""

    quoting = csv.QUOTE_NONE


class DocumentReader(Protocol):
    """Reads the documents of one file, or of a part of one."""

    @property
    def path(self) -> Path:
        """The file."""

    def blocks(self) -> ByteBlocks:
        """The documents, one per line."""

    def documents(self) -> Documents:
        """The original documents; a missing one is empty, so that rows stay aligned."""

    def parts(self, count: int) -> "list[DocumentReader]":
        """At most `count` readers of consecutive parts of the documents."""


@dataclass(frozen=True)
class PlainTextReader:
    """One document per line; from byte `start` to `stop` of the file, where lines begin."""

    path: Path
    encoding: str = "utf-8"
    start: int = 0
    stop: int | None = None

    def blocks(self) -> ByteBlocks:
        """Blocks of complete lines; a line longer than a block is split at a space."""
        if self.encoding != "utf-8":
            yield from as_blocks(text_lines(self.path, self.encoding, self.start, self.stop))
            return
        rest, done = b"", self.start
        for block, done in InputFile(self.path).blocks(self.start, self.stop, BLOCK_BYTES):
            text = rest + block.tobytes()
            end = text.rfind(b"\n") + 1 or text.rfind(b" ") + 1
            if end:
                yield np.frombuffer(text, np.uint8, end), done
            rest = text[end:]
        if rest:
            yield np.frombuffer(rest, np.uint8), done

    def documents(self) -> Documents:
        """Complete lines, without line ends and byte order mark."""
        lines = text_lines(self.path, self.encoding, self.start, self.stop)
        for number, (line, done) in enumerate(lines):
            yield (line if number else line.removeprefix("\ufeff")).removesuffix("\r"), done

    def parts(self, count: int) -> list[DocumentReader]:
        """Byte ranges; a compressed file is not split, nor one whose line feeds are not a byte."""
        source = InputFile(self.path)
        if source.compressed or "\n".encode(self.encoding) != b"\n":
            return [self]
        stop = source.size if self.stop is None else self.stop
        bounds = [self.start + (stop - self.start) * i // count for i in range(1, count)]
        starts = [self.start, *(source.line_start(bound) for bound in bounds if bound > 0)]
        pairs = zip(starts, [*starts[1:], stop], strict=True)
        return [replace(self, start=a, stop=b) for a, b in pairs if a < b] or [self]


@dataclass(frozen=True)
class WholeFileReader:
    """A file that cannot be split."""

    path: Path

    def blocks(self) -> ByteBlocks:
        """The documents, one per line."""
        return as_blocks(self.documents())

    def parts(self, count: int) -> list[DocumentReader]:
        """This reader alone."""
        return [self]

    def documents(self) -> Documents:
        """The original documents."""
        raise NotImplementedError


@dataclass(frozen=True)
class JsonLinesReader(WholeFileReader):
    """One JSON object per line, with the document in one of its fields."""

    field: str
    encoding: str = "utf-8"

    def documents(self) -> Documents:
        """The field of each line that is not blank."""
        for number, value, done in self.objects():
            try:
                text = value[self.field]
            except (KeyError, TypeError, IndexError) as error:
                raise InvalidFileError(
                    f"{self.path}:{number}: there is no field '{self.field}'"
                ) from error
            yield "" if text is None else str(text), done

    def objects(self) -> Iterator[tuple[int, Any, int]]:
        """The value of each line, with its line number and the bytes read so far."""
        for number, (line, done) in enumerate(text_lines(self.path, self.encoding), 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (json.JSONDecodeError, RecursionError) as error:
                reason = getattr(error, "msg", "nested too deeply")
                raise InvalidFileError(
                    f"{self.path}:{number}: this is not JSON ({reason})"
                ) from error
            yield number, value, done


@dataclass(frozen=True)
class TableReader(WholeFileReader):
    """Comma- or tab-separated values with a header line; one column holds the document."""

    column: str
    encoding: str = "utf-8"
    separator: str = ","

    def documents(self) -> Documents:
        """The column of each row."""
        rows = self.rows()
        _, header, _ = next(rows)
        if self.column not in header:
            raise InvalidArgumentError(
                f"{self.path} has no column '{self.column}': it has {', '.join(header)}"
            )
        index = header.index(self.column)
        for _, row, done in rows:
            if row:  # blank lines are not rows
                yield row[index] if len(row) > index else "", done

    def rows(self) -> Iterator[tuple[int, list[str], int]]:
        """The header and the rows, each with its last line number and the bytes read so far."""
        done = 0

        def lines() -> Iterator[str]:
            nonlocal done
            for line, done in text_lines(self.path, self.encoding):  # noqa: B007
                yield line + "\n"

        csv.field_size_limit(1 << 30)
        dialect = "excel" if self.separator == "," else TabSeparated
        rows = csv.reader(lines(), dialect)
        try:
            header = [name.lstrip("\ufeff").strip() for name in next(rows, [])]
            yield rows.line_num, header, done
            for row in rows:
                yield rows.line_num, row, done
        except csv.Error as error:
            raise InvalidFileError(
                f"{self.path}:{rows.line_num}: this is not a valid row ({error})"
            ) from error


@dataclass(frozen=True)
class ParquetReader(WholeFileReader):
    """A column of strings."""

    column: str

    def documents(self) -> Documents:
        """The strings of the column."""
        with open_parquet(self.path) as file:
            names = file.schema_arrow.names
            if self.column not in names:
                raise InvalidArgumentError(
                    f"{self.path} has no column '{self.column}': it has {', '.join(names)}"
                )
            size, rows, total = self.path.stat().st_size, 0, max(1, file.metadata.num_rows)
            for batch in file.iter_batches(columns=[self.column]):
                rows += len(batch)
                for text in batch.column(0).to_pylist():
                    yield "" if text is None else str(text), size * rows // total


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """Open a Parquet file; errors while reading it become `InvalidFileError`."""
    arrow = require("pyarrow", extra="parquet")
    parquet = require("pyarrow.parquet", extra="parquet")
    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except (arrow.ArrowException, OSError, UnicodeDecodeError, MemoryError) as error:
        raise InvalidFileError(f"{path} is damaged or is not a Parquet file: {error}") from error


def text_lines(
    path: Path, encoding: str, start: int = 0, stop: int | None = None, errors: str = "replace"
) -> Iterator[tuple[str, int]]:
    """The lines of a file in any encoding, without line ends; bad bytes become U+FFFD.

    `errors` says otherwise, as in `bytes.decode`.
    """
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    begun: list[str] = []  # parts of a line, which may span many blocks
    done = start
    for block, done in InputFile(path).blocks(start, stop, BLOCK_BYTES):
        first, *lines = decoder.decode(block.tobytes()).split("\n")
        begun.append(first)
        for line in lines:
            yield "".join(begun), done
            begun = [line]
    begun.append(decoder.decode(b"", final=True))
    if rest := "".join(begun):
        yield rest, done


def as_blocks(documents: Iterable[tuple[str, int]]) -> ByteBlocks:
    """Blocks of UTF-8 with one document per line."""
    pending: list[bytes] = []
    size = done = 0
    for text, done in documents:
        line = text.translate(LINE_BREAKS).encode("utf-8", "replace") + b"\n"
        pending.append(line)
        size += len(line)
        if size >= BLOCK_BYTES:
            yield np.frombuffer(b"".join(pending), np.uint8), done
            pending, size = [], 0
    if pending:
        yield np.frombuffer(b"".join(pending), np.uint8), done
