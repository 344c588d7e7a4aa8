"""Writers of embedded texts, chunk by chunk; the suffix of the file name selects the format.

    .npy       one row per text, in the order of the texts
    .jsonl     one line per text, with its vector, or those of its words or tokens
    .parquet   one row per text: `text` and `vector`, or `text` and `words` or `tokens`
    .malmoi    a file of vectors whose keys are the texts; only the first of equal texts

Each writes a partial file that only grows, so that a resumed run can truncate it to the end of a
chunk. Parquet and .malmoi files are made from it at the end.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.lib import format as npy

from malmoi.encode.bulk.embed import EmbeddedTexts, Per
from malmoi.errors import InvalidArgumentError
from malmoi.extras import require
from malmoi.files.output import atomic_write, move_into_place
from malmoi.formats import save
from malmoi.keys import Keys
from malmoi.vectors import Vectors

LENGTH_BYTES = 8  # of the length before each message


class Output(Protocol):
    """Writes one file format."""

    def add(self, file: BinaryIO, chunk: EmbeddedTexts) -> None:
        """Append some texts to the partial file."""

    def finish(self, part: Path, target: Path, texts: Iterable[str], dim: int) -> None:
        """Make the target from the partial file; `texts` are the added ones, of dimension `dim`."""


class ArrayOutput:
    """.npy: a header of fixed length, then the rows."""

    def add(self, file: BinaryIO, chunk: EmbeddedTexts) -> None:
        """Append rows."""
        rows = np.ascontiguousarray(chunk.vectors, "<f4")
        if file.tell() == 0:
            write_header(file, 0, rows.shape[1])
        file.write(rows.data)

    def finish(self, part: Path, target: Path, texts: Iterable[str], dim: int) -> None:
        """Write the number of rows into the header and move the file."""
        self.complete(part, dim)
        move_into_place([part], [target])

    def complete(self, part: Path, dim: int) -> None:
        """Complete the header of the partial file."""
        with part.open("r+b") as file:
            write_header(file, 0, dim)
            rows = max(0, part.stat().st_size - file.tell()) // (4 * dim)
            file.seek(0)
            write_header(file, rows, dim)


class JsonLinesOutput:
    """.jsonl: one line per text."""

    def __init__(self, per: Per) -> None:
        self.per = per

    def add(self, file: BinaryIO, chunk: EmbeddedTexts) -> None:
        """Append lines."""
        for record in chunk.records(self.per):
            file.write(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def finish(self, part: Path, target: Path, texts: Iterable[str], dim: int) -> None:
        """Move the file, which is complete."""
        move_into_place([part], [target])


class TableOutput:
    """.parquet: first Arrow messages, each after its length."""

    def __init__(self, per: Per) -> None:
        self.arrow = require("pyarrow", extra="parquet")
        self.per = per

    def add(self, file: BinaryIO, chunk: EmbeddedTexts) -> None:
        """Append a message."""
        dim = chunk_dim(chunk)
        columns = [self.arrow.array(chunk.texts, self.arrow.string()), self._column(chunk, dim)]
        batch = self.arrow.record_batch(columns, schema=self._schema(dim))
        message = batch.serialize()
        file.write(message.size.to_bytes(LENGTH_BYTES, "little"))
        file.write(message)

    def finish(self, part: Path, target: Path, texts: Iterable[str], dim: int) -> None:
        """Write one row group per message."""
        parquet, schema = require("pyarrow.parquet", extra="parquet"), self._schema(dim)
        with atomic_write(target) as (new,), parquet.ParquetWriter(new, schema) as writer:
            for message in read_messages(part):
                batch = self.arrow.ipc.read_record_batch(self.arrow.py_buffer(message), schema)
                writer.write_batch(batch)
        part.unlink()

    def _schema(self, dim: int) -> Any:
        arrow = self.arrow
        vector = arrow.list_(arrow.float32(), dim)
        if self.per == "text":
            return arrow.schema([("text", arrow.string()), ("vector", vector)])
        fields = [("begin", arrow.int32()), ("end", arrow.int32()), ("vector", vector)]
        each = arrow.struct([(self.per, arrow.string()), *fields])
        return arrow.schema([("text", arrow.string()), (f"{self.per}s", arrow.list_(each))])

    def _column(self, chunk: EmbeddedTexts, dim: int) -> Any:
        arrow, schema = self.arrow, self._schema(dim)
        if isinstance(chunk.vectors, np.ndarray):
            flat = arrow.array(np.ascontiguousarray(chunk.vectors, np.float32).reshape(-1))
            return arrow.FixedSizeListArray.from_arrays(flat, dim)
        spans, each = chunk.vectors, schema.field(1).type.value_type
        flat = arrow.array(np.concatenate([span.matrix for span in spans]).reshape(-1))
        offsets = np.concatenate([span.offsets for span in spans]).astype(np.int32)
        columns = [
            arrow.array([key for span in spans for key in span.keys], arrow.string()),
            arrow.array(offsets[:, 0]),
            arrow.array(offsets[:, 1]),
            arrow.FixedSizeListArray.from_arrays(flat, dim),
        ]
        bounds = np.concatenate([[0], np.cumsum([len(span.keys) for span in spans])])
        rows = arrow.StructArray.from_arrays(columns, fields=list(each))
        return arrow.ListArray.from_arrays(arrow.array(bounds, arrow.int32()), rows)


class MalmoiOutput(ArrayOutput):
    """.malmoi: first a .npy, to which the texts are added at the end."""

    def __init__(self, model: str) -> None:
        self.model = model

    def finish(self, part: Path, target: Path, texts: Iterable[str], dim: int) -> None:
        """Read the texts again, as keys."""
        self.complete(part, dim)
        save(Vectors(Keys.of(texts), np.load(part, mmap_mode="r"), None, {"model": self.model}),
             target, format="malmoi")  # fmt: skip
        part.unlink()


SUFFIXES = (".npy", ".jsonl", ".parquet", ".malmoi")
TEXT_SUFFIXES = (".npy", ".malmoi")


def check_suffix(path: Path, per: Per) -> None:
    """Raise InvalidArgumentError for an unknown suffix, or a format without words or tokens."""
    if path.suffix not in SUFFIXES:
        raise InvalidArgumentError(f"{path} must end in one of {', '.join(SUFFIXES)}")
    if path.suffix in TEXT_SUFFIXES and per != "text":
        raise InvalidArgumentError(
            f"{path} has one row per text: write vectors per {per} to a .jsonl or .parquet file"
        )


def output_for(path: Path, per: Per, model: str) -> Output:
    """The writer for a file of this name."""
    check_suffix(path, per)
    kinds: dict[str, Any] = {
        ".npy": ArrayOutput,
        ".jsonl": lambda: JsonLinesOutput(per),
        ".parquet": lambda: TableOutput(per),
        ".malmoi": lambda: MalmoiOutput(model),
    }
    output: Output = kinds[path.suffix]()
    return output


def chunk_dim(chunk: EmbeddedTexts) -> int:
    """The dimension of the vectors of a chunk."""
    rows = chunk.vectors if isinstance(chunk.vectors, np.ndarray) else chunk.vectors[0].matrix
    return int(rows.shape[1])


def write_header(file: BinaryIO, rows: int, dim: int) -> None:
    """Write the header of a .npy; NumPy reserves space for any number of rows."""
    header = {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)}
    npy.write_array_header_1_0(file, header)


def read_messages(part: Path) -> Iterator[bytes]:
    """The messages of a partial file."""
    with part.open("rb") as file:
        while length := file.read(LENGTH_BYTES):
            yield file.read(int.from_bytes(length, "little"))
