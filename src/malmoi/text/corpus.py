"""Corpus: documents from files, a folder, standard input or Python, that can be read repeatedly.

Yields blocks of normalized UTF-8 with one document per line, or the original documents. Knows
nothing about words.
"""

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from malmoi.arrays import UInt8Array
from malmoi.errors import InvalidArgumentError, InvalidFileError, check_encoding
from malmoi.reporting.reporter import DEFAULT_REPORTER, Progress, Reporter, no_progress
from malmoi.text.normalize import BlockNormalizer, Normalizer
from malmoi.text.readers import (
    COMPRESSED_SUFFIXES,
    TEXT_SUFFIXES,
    DocumentReader,
    JsonLinesReader,
    ParquetReader,
    PlainTextReader,
    TableReader,
    as_blocks,
)
from malmoi.text_inputs import TextLike, strings

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Corpus:
    """Documents in files or in memory, and how their text is normalized; see `Corpus.of`.

    Iterating yields the normalized documents; `corpus.texts` yields them unchanged.
    """

    readers: tuple[DocumentReader, ...] = ()
    documents: tuple[str, ...] | None = None
    normalizer: Normalizer = field(default_factory=Normalizer)

    @classmethod
    def of(
        cls,
        source: "str | Path | Iterable[TextLike]",
        *,
        field: str | None = None,
        encoding: str = "utf-8",
        normalizer: Normalizer | None = None,
    ) -> "Corpus":
        """Make a corpus.

        Args:
            source: A file, a folder of files, `-` for standard input, or documents: a list, a
                generator, a Series or an array of strings or token lists.
            field: The field of JSON lines, or the column of a table, that holds the text.
            encoding: The encoding of the files.
            normalizer: How to normalize the text; by default `Normalizer()`.

        Returns:
            The corpus; nothing is read yet.

        Raises:
            InvalidArgumentError: `encoding` is unknown, `field` is missing or does not apply, or
                a document is not a text.
            InvalidFileError: A file does not exist, or the folder holds no text.
        """
        check_encoding(encoding)
        normalizer = normalizer or Normalizer()
        if not isinstance(source, str | Path):
            return cls(documents=tuple(strings(source, "document")), normalizer=normalizer)
        path = standard_input() if str(source) == STANDARD_INPUT else Path(source)
        files = text_files(path) if path.is_dir() else [path]
        readers = tuple(open_reader(file, field, encoding) for file in files)
        if field is not None and all(isinstance(reader, PlainTextReader) for reader in readers):
            raise InvalidArgumentError(
                f"{source} is plain text, which has no field '{field}': leave it out, or name the"
                " file .jsonl, .csv, .tsv or .parquet"
            )
        return cls(readers, None, normalizer)

    @property
    def name(self) -> str:
        """A short name for progress bars."""
        if self.documents is not None:
            return f"{len(self.documents):,} texts"
        return str(self.readers[0].path) if len(self.readers) == 1 else f"{len(self.readers)} files"

    @property
    def progress_total(self) -> int:
        """The total of progress callbacks: bytes of files, or documents in memory."""
        if self.documents is not None:
            return len(self.documents)
        return sum(reader.path.stat().st_size for reader in self.readers)

    def blocks(
        self, progress: Progress = no_progress, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterator[UInt8Array]:
        """Blocks of normalized UTF-8, one document per line.

        Args:
            progress: Called with bytes, or documents in memory, and `progress_total`.
            reporter: Receives warnings at the end, such as the number of undecodable lines.

        Returns:
            An iterator over arrays of bytes.
        """
        normalize = BlockNormalizer(self.normalizer)
        for block in self._raw_blocks(progress):
            yield normalize(block)
        for sentence in normalize.warnings():
            reporter.warn(sentence)

    def __iter__(self) -> Iterator[str]:
        for block in self.blocks():
            yield from block.tobytes().decode("utf-8", "replace").removesuffix("\n").split("\n")

    @property
    def texts(self) -> "Texts":
        """The documents, not normalized."""
        return Texts(self)

    def shards(self, count: int) -> "list[Corpus]":
        """Split the documents for several threads or machines.

        Args:
            count: About how many shards to make.

        Returns:
            Corpora with consecutive parts of the documents.
        """
        if self.documents is not None:
            bounds = [len(self.documents) * i // count for i in range(count + 1)]
            parts = [self.documents[a:b] for a, b in pairwise(bounds)]
            return [replace(self, documents=part) for part in parts if part]
        parts_per_file = -(-count // max(1, len(self.readers)))
        readers = [part for reader in self.readers for part in reader.parts(parts_per_file)]
        return [replace(self, readers=(reader,)) for reader in readers]

    def fingerprint(self) -> str:
        """A digest of the corpus: the same as long as files and settings are the same."""
        if self.documents is not None:
            content = "\0".join(self.documents)
        else:
            stats = [(reader, reader.path.resolve().stat()) for reader in self.readers]
            content = repr([(reader, stat.st_size, stat.st_mtime_ns) for reader, stat in stats])
        text = f"{self.normalizer!r}\0{content}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=16).hexdigest()

    def _raw_blocks(self, progress: Progress) -> Iterator[UInt8Array]:
        total = self.progress_total
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
    """The documents of a corpus, complete and not normalized; can be iterated repeatedly."""

    corpus: Corpus

    def __iter__(self) -> Iterator[str]:
        return self.with_progress(no_progress)

    def with_progress(self, progress: Progress) -> Iterator[str]:
        """Iterate and call `progress` after each document."""
        before, total = 0, self.corpus.progress_total
        for done, text in enumerate(self.corpus.documents or (), 1):
            yield text
            progress(done, total)
        for reader in self.corpus.readers:
            for text, done in reader.documents():
                yield text
                progress(min(before + done, total), total)
            before += reader.path.stat().st_size


def open_reader(path: Path, field: str | None, encoding: str) -> DocumentReader:
    """The reader for the suffix of a file."""
    if not path.exists():
        raise InvalidFileError(f"{path} does not exist")
    is_compressed = path.suffix in COMPRESSED_SUFFIXES
    suffix = path.with_suffix("").suffix if is_compressed else path.suffix
    if suffix in (".jsonl", ".csv", ".tsv", ".parquet"):
        if field is None:
            raise InvalidArgumentError(
                f"{path} has several fields or columns: name the one that holds the text (--field)"
            )
        if suffix == ".jsonl":
            return JsonLinesReader(path, field, encoding)
        if suffix == ".parquet":
            return ParquetReader(path, field)
        return TableReader(path, field, encoding, "," if suffix == ".csv" else "\t")
    return PlainTextReader(path, encoding)


def text_files(folder: Path) -> list[Path]:
    """The text files in a folder and its subfolders, sorted by name."""
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and (set(path.suffixes[-2:]) & set(TEXT_SUFFIXES))
    ]
    if not files:
        raise InvalidFileError(
            f"{folder} holds no text files ({', '.join(TEXT_SUFFIXES)}, compressed or not)"
        )
    return files


def standard_input() -> Path:
    """A temporary copy of standard input, which can be read repeatedly."""
    return copy_of_stream(sys.stdin.buffer)


@cache  # a stream can be read once; another `sys.stdin` is another stream
def copy_of_stream(stream: BinaryIO) -> Path:
    """A temporary copy of a stream, removed when the process ends."""
    with tempfile.NamedTemporaryFile(suffix=".txt", delete=False) as copy:
        shutil.copyfileobj(stream, copy)
        size = copy.tell()
    atexit.register(os.unlink, copy.name)
    if size == 0:
        raise InvalidFileError("standard input is empty")
    return Path(copy.name)
