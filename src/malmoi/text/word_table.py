"""A hash table that counts the words of blocks of text and gives them ids, on several threads.

Knows nothing about files or tokenizers: it splits text at white space.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import BinaryIO, Self

import numpy as np

from malmoi.arrays import Int64Array, UInt8Array, UInt32Array
from malmoi.kernels.core.jit import readonly_view
from malmoi.kernels.parsing.scan_words import (
    WordHashTable,
    fill_slots,
    hash_all,
    renumber,
    scan_words,
)
from malmoi.kernels.threads import THREADS
from malmoi.keys import Keys
from malmoi.text.parallel import in_order

INITIAL_WORDS, INITIAL_BYTES = 1 << 15, 1 << 19


class WordTable:
    """Words and their counts; grows as needed, or drops the rarest words."""

    def __init__(self, words: int = INITIAL_WORDS, size: int = INITIAL_BYTES) -> None:
        self._table = WordHashTable(
            slots=np.full(2 * words, -1, dtype=np.int32),
            arena=np.empty(size, dtype=np.uint8),
            offsets=np.zeros(words + 1, dtype=np.int64),
            hashes=np.empty(words, dtype=np.uint64),
            counts=np.zeros(words, dtype=np.int64),
            used=np.zeros(1, dtype=np.int64),
        )

    @classmethod
    def of(cls, keys: Keys, counts: Int64Array | None = None) -> Self:
        """A table of these words; their ids are their rows."""
        word_table = cls(1 << max(8, len(keys).bit_length()), len(keys.packed))
        table = word_table._table
        table.arena[:] = keys.packed
        table.offsets[: len(keys) + 1] = keys.offsets
        table.used[0] = len(keys)
        hash_all(table.arena, table.offsets[: len(keys) + 1], table.hashes[: len(keys)])
        if counts is not None:
            table.counts[: len(keys)] = counts
        fill_slots(table.slots, table.hashes, len(keys))
        return word_table

    @property
    def keys(self) -> Keys:
        """The words in the order of their ids, which is that of their first occurrence."""
        offsets = self._table.offsets[: len(self) + 1]
        return Keys(self._table.arena[: offsets[-1]], offsets)

    @property
    def counts(self) -> Int64Array:
        """How often each word occurs."""
        return self._table.counts[: len(self)]

    def __len__(self) -> int:
        return int(self._table.used[0])

    def read(self, text: UInt8Array) -> UInt32Array:
        """The ids of a block's words, with LINE_END for line ends; new words are added."""
        ids = np.empty(len(text) + 1, dtype=np.uint32)
        position = written = 0
        while position < len(text):
            more, position = scan_words(
                readonly_view(text), position, ids[written:], True, self._table
            )
            written += more
            if position < len(text):
                self._grow()
        return ids[:written].copy()

    def encode(self, text: UInt8Array) -> UInt32Array:
        """The ids of a block's words, with UNKNOWN for words not in the table."""
        ids = np.empty(len(text) + 1, dtype=np.uint32)
        written = scan_words(readonly_view(text), 0, ids, False, self._table)[0]
        return ids[:written].copy()

    def add(self, other: "WordTable") -> UInt32Array:
        """Add the counts of another table; returns the ids here of its words."""
        ids = self.read(spaced(other.keys))
        self.counts[ids] += other.counts - 1  # `read` has counted each word once
        return ids

    def drop_rare(self, max_words: int) -> None:
        """Drop the rarest words, so that at most `max_words` remain."""
        if len(self) <= max_words:
            return
        excess = len(self) - max_words
        highest_dropped = int(np.partition(self.counts, excess)[excess])
        rows = np.flatnonzero(self.counts > highest_dropped)
        self._table = WordTable.of(self.keys.take(rows), self.counts[rows])._table

    def _grow(self) -> None:
        """Double the capacity for words or for bytes, whichever is used up."""
        words, size = len(self._table.counts), len(self._table.arena)
        if len(self) == words:
            words *= 2
        else:
            size *= 2
        larger = WordTable(words, size)._table
        for name in WordHashTable._fields[
            1:
        ]:  # all but the slots, where words stand by their hashes
            old = getattr(self._table, name)
            getattr(larger, name)[: len(old)] = old
        fill_slots(larger.slots, larger.hashes, len(self))
        self._table = larger


def spaced(words: Keys) -> UInt8Array:
    """The words as a text, separated by spaces."""
    text = np.full(len(words.packed) + len(words), ord(" "), dtype=np.uint8)
    before = np.repeat(np.arange(len(words)), np.diff(words.offsets))
    text[np.arange(len(words.packed)) + before] = words.packed
    return text


@dataclass(frozen=True)
class ReadText:
    """Blocks of text as ids: block i has `spans[i][1]` ids, given by table `spans[i][0]`.

    Each thread has its own table, so that a word's id depends on its block until the text is
    renumbered.
    """

    tables: tuple[WordTable, ...]
    spans: tuple[tuple[int, int], ...]
    mergers: tuple[UInt32Array, ...] = field(init=False)

    def __post_init__(self) -> None:
        first, *others = self.tables
        merged = [first.add(other) for other in others]
        unchanged = np.arange(len(first), dtype=np.uint32)
        object.__setattr__(self, "mergers", (unchanged, *merged))

    @property
    def total(self) -> WordTable:
        """All words with their counts."""
        return self.tables[0]

    def renumber(self, ids: UInt32Array, words: Keys) -> None:
        """Replace the ids of all blocks, concatenated in `ids`, by the rows of `words`."""
        rows = WordTable.of(words).encode(spaced(self.total.keys))
        new_ids = [rows[merger] for merger in self.mergers]
        bounds = np.cumsum([0, *(length for _, length in self.spans)]).tolist()

        def task(block: int) -> None:
            renumber(ids[bounds[block] : bounds[block + 1]], new_ids[self.spans[block][0]])

        for _ in in_order(task, range(len(self.spans))):
            pass


def read_blocks(
    blocks: Iterable[UInt8Array],
    *,
    ids_out: BinaryIO | None = None,
    max_words: int | None = None,
) -> ReadText:
    """Read blocks of text, with one table per thread, and write their ids to `ids_out`.

    With `max_words`, a table that exceeds it drops its rarest words, as word2vec does: memory is
    bounded, counts of rare words may be too low, and the ids are not valid.
    """
    tables = tuple(WordTable() for _ in range(THREADS))
    free: SimpleQueue[int] = SimpleQueue()
    for number in range(THREADS):
        free.put(number)

    def read(block: UInt8Array) -> tuple[int, UInt32Array]:
        number = free.get()
        ids = tables[number].read(block)
        if max_words is not None:
            tables[number].drop_rare(max_words)
        free.put(number)
        return number, ids

    spans = []
    for number, ids in in_order(read, blocks):
        spans.append((number, len(ids)))
        if ids_out is not None:
            ids_out.write(ids.data)
    return ReadText(tables, tuple(spans))
