"""Files of embedded texts, written chunk by chunk; the ending of a file's name says which.

    .npy       a row a text, in the order of the texts
    .jsonl     a line a text, with its vector, or those of its words or pieces
    .parquet   a row a text: `text` and `vector`, or `text` and `words` or `pieces`
    .malmoi    our own file of vectors, whose keys are the texts; of equal texts the first alone

Each is made in a file beside that only grows, so that it can be cut back to where a chunk ended and
gone on with. What cannot grow, Parquet and our own file, is made of that at the end.
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

LENGTH = 8  # bytes that say how long a message is


class Output(Protocol):
    """How one kind of file is made; `dim` is how many numbers a vector has."""

    def add(self, file: BinaryIO, chunk: EmbeddedTexts) -> None:
        """Write some texts at the end of the file that grows."""

    def finish(self, part: Path, target: Path, texts: Iterable[str], dim: int) -> None:
        """Make the target of the file that grew; `texts` are those that were added."""


class ArrayOutput:
    """.npy: a header as long as any, then the rows."""

    def add(self, file: BinaryIO, chunk: EmbeddedTexts) -> None:
        """Rows."""
        rows = np.ascontiguousarray(chunk.vectors, "<f4")
        if file.tell() == 0:
            write_header(file, 0, rows.shape[1])
        file.write(rows.data)

    def finish(self, part: Path, target: Path, texts: Iterable[str], dim: int) -> None:
        """The header says how many rows there are."""
        self.complete(part, dim)
        move_into_place([part], [target])

    def complete(self, part: Path, dim: int) -> None:
        """Make the file that grew a .npy."""
        with part.open("r+b") as file:
            write_header(file, 0, dim)
            rows = max(0, part.stat().st_size - file.tell()) // (4 * dim)
            file.seek(0)
            write_header(file, rows, dim)


class JsonLinesOutput:
    """.jsonl: a line a text."""

    def __init__(self, per: Per) -> None:
        self.per = per

    def add(self, file: BinaryIO, chunk: EmbeddedTexts) -> None:
        """Lines."""
        for record in chunk.records(self.per):
            file.write(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def finish(self, part: Path, target: Path, texts: Iterable[str], dim: int) -> None:
        """Nothing is missing."""
        move_into_place([part], [target])


class TableOutput:
    """.parquet: messages of Arrow, each after its length, until all are there."""

    def __init__(self, per: Per) -> None:
        self.arrow = require("pyarrow", extra="parquet")
        self.per = per

    def add(self, file: BinaryIO, chunk: EmbeddedTexts) -> None:
        """A message."""
        dim = chunk_dim(chunk)
        columns = [self.arrow.array(chunk.texts, self.arrow.string()), self._column(chunk, dim)]
        batch = self.arrow.record_batch(columns, schema=self._schema(dim))
        message = batch.serialize()
        file.write(message.size.to_bytes(LENGTH, "little"))
        file.write(message)

    def finish(self, part: Path, target: Path, texts: Iterable[str], dim: int) -> None:
        """A group of rows for each message."""
        parquet, schema = require("pyarrow.parquet", extra="parquet"), self._schema(dim)
        with atomic_write(target) as (made,), parquet.ParquetWriter(made, schema) as writer:
            for message in read_messages(part):
                batch = self.arrow.ipc.read_record_batch(self.arrow.py_buffer(message), schema)
                writer.write_batch(batch)
        part.unlink()

    def _schema(self, dim: int) -> Any:
        arrow = self.arrow
        vector = arrow.list_(arrow.float32(), dim)
        if self.per == "text":
            return arrow.schema([("text", arrow.string()), ("vector", vector)])
        places = [("begin", arrow.int32()), ("end", arrow.int32()), ("vector", vector)]
        each = arrow.struct([(self.per, arrow.string()), *places])
        return arrow.schema([("text", arrow.string()), (f"{self.per}s", arrow.list_(each))])

    def _column(self, chunk: EmbeddedTexts, dim: int) -> Any:
        arrow, schema = self.arrow, self._schema(dim)
        if isinstance(chunk.vectors, np.ndarray):
            flat = arrow.array(np.ascontiguousarray(chunk.vectors, np.float32).reshape(-1))
            return arrow.FixedSizeListArray.from_arrays(flat, dim)
        parts, each = chunk.vectors, schema.field(1).type.value_type
        flat = arrow.array(np.concatenate([part.matrix for part in parts]).reshape(-1))
        offsets = np.concatenate([part.offsets for part in parts]).astype(np.int32)
        columns = [
            arrow.array([key for part in parts for key in part.keys], arrow.string()),
            arrow.array(offsets[:, 0]),
            arrow.array(offsets[:, 1]),
            arrow.FixedSizeListArray.from_arrays(flat, dim),
        ]
        bounds = np.concatenate([[0], np.cumsum([len(part.keys) for part in parts])])
        rows = arrow.StructArray.from_arrays(columns, fields=list(each))
        return arrow.ListArray.from_arrays(arrow.array(bounds, arrow.int32()), rows)


class MalmoiOutput(ArrayOutput):
    """.malmoi: a matrix that grows as a .npy does, and the texts at the end."""

    def __init__(self, model: str) -> None:
        self.model = model

    def finish(self, part: Path, target: Path, texts: Iterable[str], dim: int) -> None:
        """The texts are read again, to be the keys."""
        self.complete(part, dim)
        save(Vectors(Keys.of(texts), np.load(part, mmap_mode="r"), None, {"model": self.model}),
             target, format="malmoi")  # fmt: skip
        part.unlink()


ENDINGS = (".npy", ".jsonl", ".parquet", ".malmoi")
OF_TEXTS = (".npy", ".malmoi")


def check_ending(path: Path, per: Per) -> None:
    """Refuse the name of a file that says nothing, or cannot hold what is wanted."""
    if path.suffix not in ENDINGS:
        raise InvalidArgumentError(f"{path} names no format: end it in {', '.join(ENDINGS)}")
    if path.suffix in OF_TEXTS and per != "text":
        raise InvalidArgumentError(
            f"{path} has a row a text: write vectors per {per} to a .jsonl or .parquet"
        )


def output_for(path: Path, per: Per, model: str) -> Output:
    """What writes a file of this name."""
    check_ending(path, per)
    kinds: dict[str, Any] = {
        ".npy": ArrayOutput,
        ".jsonl": lambda: JsonLinesOutput(per),
        ".parquet": lambda: TableOutput(per),
        ".malmoi": lambda: MalmoiOutput(model),
    }
    made: Output = kinds[path.suffix]()
    return made


def chunk_dim(chunk: EmbeddedTexts) -> int:
    """How many numbers a vector has."""
    some = chunk.vectors if isinstance(chunk.vectors, np.ndarray) else chunk.vectors[0].matrix
    return int(some.shape[1])


def write_header(file: BinaryIO, rows: int, dim: int) -> None:
    """The header of a .npy, always as long: NumPy leaves room for any number of rows."""
    said = {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)}
    npy.write_array_header_1_0(file, said)


def read_messages(part: Path) -> Iterator[bytes]:
    """Messages, each after its length."""
    with part.open("rb") as file:
        while length := file.read(LENGTH):
            yield file.read(int.from_bytes(length, "little"))
