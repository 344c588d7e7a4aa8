"""Sentences from files, one per line, as lists of tokens."""

import bz2
import gzip
import io
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

MAX_SENTENCE_WORDS = 10_000


class LineSentence:
    """The lines of a file as lists of tokens, split at white space.

    Args:
        source: A path (`.gz` and `.bz2` are decompressed), or a file object with `seek`.
        max_sentence_length: Longer lines are split.
        limit: Read only the first lines.
    """

    def __init__(
        self,
        source: str | Path | IO[Any],
        max_sentence_length: int = MAX_SENTENCE_WORDS,
        limit: int | None = None,
    ) -> None:
        self.source, self.max_sentence_length, self.limit = source, max_sentence_length, limit

    def __iter__(self) -> Iterator[list[str]]:
        if isinstance(self.source, str | Path):
            with open_text(self.source) as lines:
                yield from self.split(lines)
        else:
            self.source.seek(0)
            yield from self.split(self.source)

    def split(self, lines: Iterable[str | bytes]) -> Iterator[list[str]]:
        """The tokens of lines."""
        for line in islice(lines, self.limit):
            tokens = (line if isinstance(line, str) else line.decode("utf-8")).split()
            for first in range(0, len(tokens), self.max_sentence_length):
                yield tokens[first : first + self.max_sentence_length]


class PathLineSentences:
    """The lines of all files of a folder, in the order of their names; or of a single file."""

    def __init__(
        self,
        source: str | Path,
        max_sentence_length: int = MAX_SENTENCE_WORDS,
        limit: int | None = None,
    ) -> None:
        path = Path(source)
        if not path.exists():
            raise ValueError(f"{source} is neither a file nor a folder")
        self.source, self.max_sentence_length, self.limit = source, max_sentence_length, limit
        self.input_files = sorted(map(str, path.iterdir())) if path.is_dir() else [str(path)]

    def __iter__(self) -> Iterator[list[str]]:
        for name in self.input_files:
            yield from LineSentence(name, self.max_sentence_length, self.limit)


def open_text(path: str | Path) -> IO[bytes]:
    """Open a file for reading, decompressed if its name says that it is compressed."""
    suffix = Path(path).suffix
    if suffix == ".gz":
        return io.BufferedReader(gzip.open(path))
    return bz2.open(path) if suffix == ".bz2" else Path(path).open("rb")
