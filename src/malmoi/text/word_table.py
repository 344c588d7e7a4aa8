"""A table of words that counts and numbers them in blocks of text, several blocks at a time.

Knows nothing of files or tokenizers: what it is given is cut at white space.
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

FIRST_WORDS, FIRST_BYTES = 1 << 15, 1 << 19


class WordTable:
    """Words and their counts; grows as needed, or forgets the rarest."""

    def __init__(self, words: int = FIRST_WORDS, size: int = FIRST_BYTES) -> None:
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
        """A table of these words, numbered as they are."""
        made = cls(1 << max(8, len(keys).bit_length()), len(keys.packed))
        table = made._table
        table.arena[:] = keys.packed
        table.offsets[: len(keys) + 1] = keys.offsets
        table.used[0] = len(keys)
        hash_all(table.arena, table.offsets[: len(keys) + 1], table.hashes[: len(keys)])
        if counts is not None:
            table.counts[: len(keys)] = counts
        fill_slots(table.slots, table.hashes, len(keys))
        return made

    @property
    def keys(self) -> Keys:
        """The words in the order they were met."""
        offsets = self._table.offsets[: len(self) + 1]
        return Keys(self._table.arena[: offsets[-1]], offsets)

    @property
    def counts(self) -> Int64Array:
        """How often each was met."""
        return self._table.counts[: len(self)]

    def __len__(self) -> int:
        return int(self._table.used[0])

    def read(self, text: UInt8Array) -> UInt32Array:
        """The numbers of a block's words, with marks for line ends; new words are added."""
        ids = np.empty(len(text) + 1, dtype=np.uint32)
        at = written = 0
        while at < len(text):
            more, at = scan_words(readonly_view(text), at, ids[written:], True, self._table)
            written += more
            if at < len(text):
                self._grow()
        return ids[:written].copy()

    def encode(self, text: UInt8Array) -> UInt32Array:
        """The numbers of a block's words, with marks for unknown ones and line ends."""
        ids = np.empty(len(text) + 1, dtype=np.uint32)
        written = scan_words(readonly_view(text), 0, ids, False, self._table)[0]
        return ids[:written].copy()

    def add(self, other: "WordTable") -> UInt32Array:
        """Add what another table has counted; the numbers of its words here."""
        ids = self.read(spaced(other.keys))
        self.counts[ids] += other.counts - 1  # reading has counted each once
        return ids

    def forget_rare(self, most: int) -> None:
        """Keep at most so many words: those below the count that it takes are forgotten."""
        if len(self) <= most:
            return
        least = int(np.partition(self.counts, len(self) - most)[len(self) - most])
        kept = np.flatnonzero(self.counts > least)
        self._table = WordTable.of(self.keys.take(kept), self.counts[kept])._table

    def _grow(self) -> None:
        """Make twice the room of what is running short."""
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
    """The words as a text."""
    text = np.full(len(words.packed) + len(words), ord(" "), dtype=np.uint8)
    before = np.repeat(np.arange(len(words)), np.diff(words.offsets))
    text[np.arange(len(words.packed)) + before] = words.packed
    return text


@dataclass(frozen=True)
class ReadText:
    """Blocks of text as numbers: block i has `spans[i][1]` of them, by table `spans[i][0]`.

    Threads read into a table each, so a word's number depends on its block until the text
    is renumbered.
    """

    tables: tuple[WordTable, ...]
    spans: tuple[tuple[int, int], ...]
    mergers: tuple[UInt32Array, ...] = field(init=False)

    def __post_init__(self) -> None:
        first, *others = self.tables
        merged = [first.add(other) for other in others]
        own = np.arange(len(first), dtype=np.uint32)
        object.__setattr__(self, "mergers", (own, *merged))

    @property
    def total(self) -> WordTable:
        """All words with their counts."""
        return self.tables[0]

    def renumber(self, ids: UInt32Array, words: Keys) -> None:
        """Number all blocks, one after another in `ids`, by one list of words."""
        places = WordTable.of(words).encode(spaced(self.total.keys))
        numbers = [places[merger] for merger in self.mergers]
        bounds = np.cumsum([0, *(length for _, length in self.spans)]).tolist()

        def task(block: int) -> None:
            renumber(ids[bounds[block] : bounds[block + 1]], numbers[self.spans[block][0]])

        for _ in in_order(task, range(len(self.spans))):
            pass


def read_blocks(
    blocks: Iterable[UInt8Array], *, keep: BinaryIO | None = None, most: int | None = None
) -> ReadText:
    """Read blocks of text, a table a thread; their numbers go to `keep`.

    With `most`, a table that has grown past it forgets its rarest words, as word2vec does:
    memory stays bounded, counts of rare words may be too low, and numbers mean nothing.
    """
    tables = tuple(WordTable() for _ in range(THREADS))
    free: SimpleQueue[int] = SimpleQueue()
    for number in range(THREADS):
        free.put(number)

    def read(block: UInt8Array) -> tuple[int, UInt32Array]:
        number = free.get()
        ids = tables[number].read(block)
        if most is not None:
            tables[number].forget_rare(most)
        free.put(number)
        return number, ids

    spans = []
    for number, ids in in_order(read, blocks):
        spans.append((number, len(ids)))
        if keep is not None:
            keep.write(ids.data)
    return ReadText(tables, tuple(spans))
