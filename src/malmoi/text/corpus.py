"""A corpus: documents from files, a folder, standard input or Python, as often as wanted.

Knows nothing of words: it gives blocks of uniform UTF-8, a document a line, or documents as they
stand.
"""

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

from malmoi.arrays import UInt8Array
from malmoi.errors import InvalidArgumentError, InvalidFileError, check_encoding, warn
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.text.normalize import NormalizedTexts, Normalizer
from malmoi.text.readers import (
    DocumentReader,
    JsonLinesReader,
    ParquetReader,
    PlainTextReader,
    TableReader,
    as_blocks,
)

ZIPPED = (".gz", ".zst")
TEXTS = (".txt", ".text", ".jsonl", ".csv", ".tsv", ".parquet")  # taken from a folder
STANDARD_INPUT = "-"

Note = Callable[[str], None]  # takes a sentence on something odd


@dataclass(frozen=True)
class Corpus:
    """Files to read, or documents in memory, and how their text is made uniform."""

    readers: tuple[DocumentReader, ...] = ()
    documents: tuple[str, ...] | None = None
    normalizer: Normalizer = field(default_factory=Normalizer)

    @classmethod
    def of(
        cls,
        source: "str | Path | Iterable[str]",
        *,
        field: str | None = None,
        encoding: str = "utf-8",
        normalizer: Normalizer | None = None,
    ) -> "Corpus":
        """A file, a folder of files, `-` for standard input, or documents as strings.

        `field` is the field of JSON lines or the column of a table; `encoding` the files'.
        """
        check_encoding(encoding)
        uniform = normalizer or Normalizer()
        if not isinstance(source, str | Path):
            return cls(documents=as_documents(source), normalizer=uniform)
        path = standard_input() if str(source) == STANDARD_INPUT else Path(source)
        files = files_in(path) if path.is_dir() else [path]
        readers = tuple(reader_of(file, field, encoding) for file in files)
        if field is not None and all(isinstance(reader, PlainTextReader) for reader in readers):
            raise InvalidArgumentError(
                f"{source} is plain text, which has no field '{field}': leave it out, or let the"
                " name end in .jsonl, .csv, .tsv or .parquet"
            )
        return cls(readers, None, uniform)

    @property
    def size(self) -> int:
        """How many bytes there are to read, for those who wait."""
        if self.documents is not None:
            return len(self.documents)
        return sum(reader.path.stat().st_size for reader in self.readers)

    def blocks(self, progress: Progress = no_progress, tell: Note = warn) -> Iterator[UInt8Array]:
        """Blocks of uniform UTF-8, a document a line; odd things met are told at the end."""
        uniform = NormalizedTexts(self.normalizer)
        for block in self._raw(progress):
            yield uniform(block)
        for note in uniform.notes():
            tell(note)

    def __iter__(self) -> Iterator[str]:
        for block in self.blocks():
            yield from block.tobytes().decode("utf-8", "replace").removesuffix("\n").split("\n")

    @property
    def texts(self) -> "Texts":
        """The documents as they stand."""
        return Texts(self)

    def shards(self, count: int) -> "list[Corpus]":
        """The same documents in about so many parts, for threads or machines to share."""
        if self.documents is not None:
            bounds = [len(self.documents) * i // count for i in range(count + 1)]
            parts = [self.documents[a:b] for a, b in pairwise(bounds)]
            return [replace(self, documents=part) for part in parts if part]
        parts_each = -(-count // max(1, len(self.readers)))
        readers = [part for reader in self.readers for part in reader.parts(parts_each)]
        return [replace(self, readers=(reader,)) for reader in readers]

    def fingerprint(self) -> str:
        """A name for this text: the same as long as files and settings are the same."""
        if self.documents is not None:
            told = "\0".join(self.documents)
        else:
            stats = [(reader, reader.path.resolve().stat()) for reader in self.readers]
            told = repr([(reader, stat.st_size, stat.st_mtime_ns) for reader, stat in stats])
        text = f"{self.normalizer!r}\0{told}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=16).hexdigest()

    def _raw(self, progress: Progress) -> Iterator[UInt8Array]:
        total = self.size
        if self.documents is not None:
            for block, done in as_blocks((text, i) for i, text in enumerate(self.documents, 1)):
                yield block
                progress(done, total)
            return
        before = 0
        for reader in self.readers:
            for block, done in reader.blocks():
                yield block
                progress(min(before + done, total), total)
            before += reader.path.stat().st_size


@dataclass(frozen=True)
class Texts:
    """Documents as they stand: whole however long, nothing made uniform, none left out.

    Can be read as often as wanted.
    """

    corpus: Corpus

    def __iter__(self) -> Iterator[str]:
        return self.with_progress(no_progress)

    def with_progress(self, progress: Progress) -> Iterator[str]:
        """The same, saying how much has been read."""
        before, total = 0, self.corpus.size
        for done, text in enumerate(self.corpus.documents or (), 1):
            yield text
            progress(done, total)
        for reader in self.corpus.readers:
            for text, done in reader.documents():
                yield text
                progress(min(before + done, total), total)
            before += reader.path.stat().st_size


def as_documents(source: Iterable[str]) -> tuple[str, ...]:
    """Documents in memory; a list of words is not one."""
    documents = tuple(source)
    for document in documents:
        if not isinstance(document, str):
            raise InvalidArgumentError(
                f"a document is a string, not {type(document).__name__}: join its words by spaces"
            )
    return documents


def reader_of(path: Path, field: str | None, encoding: str) -> DocumentReader:
    """The reader that a file's name asks for."""
    if not path.exists():
        raise InvalidFileError(f"{path} does not exist")
    suffix = path.with_suffix("").suffix if path.suffix in ZIPPED else path.suffix
    if suffix in (".jsonl", ".csv", ".tsv", ".parquet"):
        if field is None:
            raise InvalidArgumentError(
                f"which field or column of {path} is the text? Name it (--field)"
            )
        if suffix == ".jsonl":
            return JsonLinesReader(path, field, encoding)
        if suffix == ".parquet":
            return ParquetReader(path, field)
        return TableReader(path, field, encoding, "," if suffix == ".csv" else "\t")
    return PlainTextReader(path, encoding)


def files_in(folder: Path) -> list[Path]:
    """The files of a folder and those below it that hold text, by name."""
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and (set(path.suffixes[-2:]) & set(TEXTS))
    ]
    if not found:
        raise InvalidFileError(
            f"{folder} holds no file of text ({', '.join(TEXTS)}, zipped or not)"
        )
    return found


@cache
def standard_input() -> Path:
    """What stands on standard input, kept in a file so that it can be read again."""
    with tempfile.NamedTemporaryFile(suffix=".txt", delete=False) as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        size = copy.tell()
    atexit.register(os.unlink, copy.name)
    if size == 0:
        raise InvalidFileError("nothing came on standard input")
    return Path(copy.name)
