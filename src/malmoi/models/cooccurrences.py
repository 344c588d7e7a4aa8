"""Cooccurrences: a sparse matrix of words by context words, and its file format.

The values are counts, weighted counts or PMI; `train.counts` computes them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np

from malmoi.arguments import expect, expect_path
from malmoi.arrays import Float64Array, Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.files.key_tensors import keys_as_tensors, keys_from_tensors
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import FileKind, read_tensor_file, write_tensor_file
from malmoi.files.tensors import Tensors, check_tensors, invalid_file_on_error
from malmoi.kernels.counts.sparse_counts import Values
from malmoi.table import HEAD, Table, Tabular
from malmoi.vocabulary import Vocabulary

SHOWN_CONTEXTS = 5  # of each word in a notebook
BLOCK_ENTRIES = 1 << 20  # entries in a block, unless a single row has more
FORMER_KIND = "malmoi-cooccurrences"  # the kind in files of earlier releases
KIND = FileKind("cooccurrences", "a file of co-occurrences", former=((FORMER_KIND, "1"),))


@dataclass(frozen=True, eq=False, repr=False)
class Cooccurrences(Tabular):
    """A value for each pair of a word and a context word, in CSR layout; missing pairs are 0.

    Row i, of word i, is `columns` (ids, ascending) and `values` from `starts[i]` to
    `starts[i + 1]`. Both may be memory-mapped. Values are uint32 if every context counts 1,
    float32 otherwise.
    """

    vocabulary: Vocabulary
    starts: Int64Array
    columns: UInt32Array
    values: Values

    def row(self, word: str) -> tuple[UInt32Array, Values]:
        """Return the context words of a word.

        Args:
            word: a word of the vocabulary.

        Returns:
            The ids of its context words, ascending, and the value of each.

        Raises:
            UnknownWordError: the word is not in the vocabulary.
        """
        row = self.vocabulary.id(word)
        entries = slice(self.starts[row], self.starts[row + 1])
        return self.columns[entries], self.values[entries]

    def value(self, word: str, context: str) -> float:
        """Return the value of a word and a context word, 0 if the pair is missing.

        Args:
            word: a word of the vocabulary.
            context: the context word.

        Raises:
            UnknownWordError: one of them is not in the vocabulary.
        """
        columns, values = self.row(word)
        column = np.uint32(self.vocabulary.id(context))
        index = np.searchsorted(columns, column)
        is_present = index < len(columns) and columns[index] == column
        return float(values[index]) if is_present else 0.0

    @cached_property
    def totals(self) -> Float64Array:
        """The sum of each row."""
        sums = np.zeros(len(self.vocabulary))
        for first, last, entries in self.blocks():
            lengths = np.diff(self.starts[first : last + 1])
            rows = np.repeat(np.arange(last - first), lengths)
            sums[first:last] = np.bincount(rows, self.values[entries], last - first)
        return sums

    @cached_property
    def context_totals(self) -> Float64Array:
        """The sum of each column."""
        sums = np.zeros(len(self.vocabulary))
        for _, _, entries in self.blocks():
            sums += np.bincount(self.columns[entries], self.values[entries], len(sums))
        return sums

    def blocks(self) -> Iterator[tuple[int, int, slice]]:
        """Iterate over blocks of rows: (first row, row after the last, slice of their entries)."""
        for first, last in spans(np.diff(self.starts), BLOCK_ENTRIES):
            yield first, last, slice(self.starts[first], self.starts[last])

    def dense(self) -> Float64Array:
        """Return the matrix as a dense table [words, words]; for small vocabularies only."""
        table = np.zeros((len(self.vocabulary), len(self.vocabulary)))
        rows = np.repeat(np.arange(len(table)), np.diff(self.starts))
        table[rows, self.columns] = self.values
        return table

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        return f"Cooccurrences({len(self.vocabulary):,} words, {len(self):,} pairs)"

    def _table(self) -> Table:
        rows = []
        for word in self.vocabulary.words[:HEAD]:
            columns, values = self.row(word)
            largest = np.argsort(-values.astype(np.float64), kind="stable")[:SHOWN_CONTEXTS]
            names = [self.vocabulary.words[int(column)] for column in columns[largest]]
            pairs = zip(names, values[largest].tolist(), strict=True)
            rows.append((word, ", ".join(f"{name} {value:.4g}" for name, value in pairs)))
        title = f"Co-occurrences: {len(self.vocabulary):,} words, {len(self):,} pairs"
        return Table(title, ["word", "largest values"], rows, len(self.vocabulary))


def spans(sizes: Int64Array, limit: int) -> Iterator[tuple[int, int]]:
    """Split rows into consecutive ranges of total size up to `limit`, at least one row each."""
    ends = np.cumsum(sizes)
    first, used = 0, 0
    while first < len(ends):
        last = max(first + 1, int(np.searchsorted(ends, used + limit, side="right")))
        yield first, last
        first, used = last, int(ends[last - 1])


def save_cooccurrences(counts: Cooccurrences, path: str | PathLike[str]) -> None:
    """Write counts as a safetensors file, atomically.

    Args:
        counts: what `count_cooccurrences`, `pmi` or `load_cooccurrences` returned.
        path: the file to write.

    Raises:
        InvalidFileError: the file cannot be written.

    Example:
        mm.save_cooccurrences(mm.count_cooccurrences(["ice is solid"]), "ice.counts")
    """
    expect(counts, Cooccurrences, "counts", "counts, as count_cooccurrences returns them")
    target = expect_path(path)
    tensors = keys_as_tensors(counts.vocabulary.words) | {
        "counts": counts.vocabulary.counts,
        "starts": counts.starts,
        "columns": counts.columns,
        "values": counts.values,
    }
    write_tensor_file(target, KIND, tensors)


def is_cooccurrences(path: str | PathLike[str]) -> bool:
    """Return whether a file was written by `save_cooccurrences`, judging by its first bytes."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        header = file.read(1 << 16)
    kinds = f'"kind":"{KIND.name}"'.encode(), f'"{FORMER_KIND}"'.encode()
    return header[8:9] == b"{" and any(kind in header for kind in kinds)


def load_cooccurrences(path: str | PathLike[str]) -> Cooccurrences:
    """Open counts written by `save_cooccurrences`, memory-mapped.

    Args:
        path: the file.

    Returns:
        The counts.

    Raises:
        InvalidFileError: the file is missing, damaged or of another kind.

    Example:
        mm.save_cooccurrences(mm.count_cooccurrences(["ice is solid"]), "ice.counts")
        counts = mm.load_cooccurrences("ice.counts")
    """
    tensors, _ = read_tensor_file(InputFile(expect_path(path)), KIND)
    with invalid_file_on_error(Path(path)):
        return _from_tensors(tensors)


def _from_tensors(tensors: Tensors) -> Cooccurrences:
    check_tensors(tensors, 1, counts="<i8", starts="<i8", columns="<u4")
    check_tensors(tensors, 1, values="<u4" if tensors["values"].dtype == np.uint32 else "<f4")
    vocabulary = Vocabulary(keys_from_tensors(tensors), tensors["counts"])
    starts, columns, values = (tensors[name] for name in ("starts", "columns", "values"))
    is_consistent = len(starts) == len(vocabulary) + 1 and len(columns) == len(values) == starts[-1]
    if not is_consistent or starts[0] != 0 or np.any(np.diff(starts) < 0):
        raise InvalidArgumentError("the number of rows differs from the number of words")
    if len(columns) and columns.max() >= len(vocabulary):
        raise InvalidArgumentError("some ids are not in the vocabulary")
    if not np.all((values >= 0) & np.isfinite(values)):
        raise InvalidArgumentError("some values are negative, nan or inf")
    return Cooccurrences(vocabulary, starts, columns, values)
