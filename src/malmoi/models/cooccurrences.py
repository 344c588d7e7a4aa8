"""Cooccurrences: a number for each word and each word beside it, as a sparse matrix; and its file.

Knows nothing of how they were counted, nor of what they mean.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np

from malmoi.arrays import Float64Array, Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.files.key_tensors import keys_as_tensors, keys_from_tensors
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import FileKind, read_tensor_file, write_tensor_file
from malmoi.files.tensors import Tensors, check_tensors, invalid_file_on_error
from malmoi.kernels.counts.sparse_counts import Values
from malmoi.vocabulary import Vocabulary

BLOCK = 1 << 20  # entries in a block, where memory allows it
FORMER = "malmoi-cooccurrences"  # what earlier releases called their files
KIND = FileKind("cooccurrences", "a file of co-occurrences", former=((FORMER, "1"),))


@dataclass(frozen=True, eq=False, repr=False)
class Cooccurrences:
    """A number for each word and each word beside it, row by row; what is not there is 0.

    Row i, of word i, is `columns` (ids, ascending) and `values` from `starts[i]` to
    `starts[i + 1]`. Both may be memory-mapped; values are uint32 if flat, else float32.
    """

    vocabulary: Vocabulary
    starts: Int64Array
    columns: UInt32Array
    values: Values

    def row(self, word: str) -> tuple[UInt32Array, Values]:
        """What stands beside a word: ids and a number for each."""
        row = self.vocabulary.id(word)
        part = slice(self.starts[row], self.starts[row + 1])
        return self.columns[part], self.values[part]

    def value(self, word: str, context: str) -> float:
        """The number of a word and one beside it."""
        columns, values = self.row(word)
        column = np.uint32(self.vocabulary.id(context))
        at = np.searchsorted(columns, column)
        return float(values[at]) if at < len(columns) and columns[at] == column else 0.0

    @cached_property
    def totals(self) -> Float64Array:
        """The sum of each row."""
        sums = np.zeros(len(self.vocabulary))
        for first, last, part in self.blocks():
            lengths = np.diff(self.starts[first : last + 1])
            rows = np.repeat(np.arange(last - first), lengths)
            sums[first:last] = np.bincount(rows, self.values[part], last - first)
        return sums

    @cached_property
    def context_totals(self) -> Float64Array:
        """The sum of each column."""
        sums = np.zeros(len(self.vocabulary))
        for _, _, part in self.blocks():
            sums += np.bincount(self.columns[part], self.values[part], len(sums))
        return sums

    def blocks(self) -> Iterator[tuple[int, int, slice]]:
        """Some rows at a time: the first, the one after the last, and where their entries are."""
        for first, last in spans(np.diff(self.starts), BLOCK):
            yield first, last, slice(self.starts[first], self.starts[last])

    def dense(self) -> Float64Array:
        """All of it as a table [words, words]; for few words."""
        table = np.zeros((len(self.vocabulary), len(self.vocabulary)))
        rows = np.repeat(np.arange(len(table)), np.diff(self.starts))
        table[rows, self.columns] = self.values
        return table

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        return f"Cooccurrences({len(self.vocabulary):,} words, {len(self):,} pairs)"


def spans(sizes: Int64Array, room: int) -> Iterator[tuple[int, int]]:
    """Ranges that follow each other, as long as their sizes fit the room, each at least one."""
    ends = np.cumsum(sizes)
    first, used = 0, 0
    while first < len(ends):
        last = max(first + 1, int(np.searchsorted(ends, used + room, side="right")))
        yield first, last
        first, used = last, int(ends[last - 1])


def save_cooccurrences(counts: Cooccurrences, path: str | PathLike[str]) -> None:
    """Write counts as a safetensors file, which is whole or not there."""
    tensors = keys_as_tensors(counts.vocabulary.words) | {
        "counts": counts.vocabulary.counts,
        "starts": counts.starts,
        "columns": counts.columns,
        "values": counts.values,
    }
    write_tensor_file(Path(path), KIND, tensors)


def is_cooccurrences(path: str | PathLike[str]) -> bool:
    """Whether a file holds counts that were saved, told by its first bytes."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        head = file.read(1 << 16)
    named = f'"kind":"{KIND.name}"'.encode(), f'"{FORMER}"'.encode()
    return head[8:9] == b"{" and any(name in head for name in named)


def load_cooccurrences(path: str | PathLike[str]) -> Cooccurrences:
    """Open counts that were saved, memory-mapped."""
    tensors, _ = read_tensor_file(InputFile(Path(path)), KIND)
    with invalid_file_on_error(Path(path)):
        return _assembled(tensors)


def _assembled(tensors: Tensors) -> Cooccurrences:
    check_tensors(tensors, 1, counts="<i8", starts="<i8", columns="<u4")
    check_tensors(tensors, 1, values="<u4" if tensors["values"].dtype == np.uint32 else "<f4")
    vocabulary = Vocabulary(keys_from_tensors(tensors), tensors["counts"])
    starts, columns, values = (tensors[name] for name in ("starts", "columns", "values"))
    fits = len(starts) == len(vocabulary) + 1 and len(columns) == len(values) == starts[-1]
    if not fits or starts[0] != 0 or np.any(np.diff(starts) < 0):
        raise InvalidArgumentError("the rows do not fit the words")
    if len(columns) and columns.max() >= len(vocabulary):
        raise InvalidArgumentError("there are ids that no word has")
    if not np.all((values >= 0) & np.isfinite(values)):
        raise InvalidArgumentError("there are values below 0, nan or inf")
    return Cooccurrences(vocabulary, starts, columns, values)
