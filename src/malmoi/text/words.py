"""A table of words that counts them in blocks of text, several blocks at a time.

Knows nothing of files or tokenizers: what it is given is cut at white space.
"""

from collections.abc import Iterable
from queue import SimpleQueue
from typing import Any, Self

import numpy as np

from malmoi.kernels.compiled import THREADS, fixed
from malmoi.kernels.words import Ids, fill_slots, hash_all, scan_words
from malmoi.keys import Bytes, Keys
from malmoi.text.parallel import in_order
from malmoi.vocabulary import Counts

FIRST_WORDS, FIRST_BYTES = 1 << 15, 1 << 19
NOWHERE = np.empty(0, dtype=np.uint32)


class WordTable:
    """Words and their counts; grows as needed, or forgets the rarest."""

    def __init__(self, words: int = FIRST_WORDS, size: int = FIRST_BYTES) -> None:
        self.slots = np.full(2 * words, -1, dtype=np.int32)
        self.arena = np.empty(size, dtype=np.uint8)
        self.offsets = np.zeros(words + 1, dtype=np.int64)
        self.hashes = np.empty(words, dtype=np.uint64)
        self.counts = np.zeros(words, dtype=np.int64)
        self.used = np.zeros(1, dtype=np.int64)

    @classmethod
    def of(cls, keys: Keys, counts: Counts | None = None) -> Self:
        """A table of these words, numbered as they are."""
        table = cls(1 << max(8, len(keys).bit_length()), len(keys.packed))
        table.arena[:] = keys.packed
        table.offsets[: len(keys) + 1] = keys.offsets
        table.used[0] = len(keys)
        hash_all(table.arena, table.offsets[: len(keys) + 1], table.hashes)
        if counts is not None:
            table.counts[: len(keys)] = counts
        fill_slots(table.slots, table.hashes, len(keys))
        return table

    @property
    def keys(self) -> Keys:
        """The words in the order they were met."""
        offsets = self.offsets[: len(self) + 1]
        return Keys(self.arena[: offsets[-1]], offsets)

    def __len__(self) -> int:
        return int(self.used[0])

    def count(self, text: Bytes) -> None:
        """Count the words of a block."""
        at = 0
        while at < len(text):
            at = scan_words(fixed(text), at, NOWHERE, *self._arrays())[1]
            if at < len(text):
                self._grow()

    def encode(self, text: Bytes) -> Ids:
        """The numbers of a block's words, with marks for unknown ones and line ends."""
        ids = np.empty(len(text) + 1, dtype=np.uint32)
        written = scan_words(fixed(text), 0, ids, *self._arrays())[0]
        return ids[:written].copy()

    def add(self, other: "WordTable") -> None:
        """Add what another table has counted."""
        words = other.keys
        lengths = np.diff(words.offsets)
        text = np.full(len(words.packed) + len(words), ord(" "), dtype=np.uint8)
        text[np.arange(len(words.packed)) + np.repeat(np.arange(len(words)), lengths)] = (
            words.packed
        )
        self.count(text)
        # Counting and encoding have each counted every word once.
        self.counts[self.encode(text)] += other.counts[: len(other)] - 2

    def forget_rare(self, most: int) -> None:
        """Keep at most so many words: those below the count that it takes are forgotten."""
        if len(self) <= most:
            return
        counts = self.counts[: len(self)]
        least = int(np.partition(counts, len(self) - most)[len(self) - most])
        kept = np.flatnonzero(counts > least)
        smaller = WordTable.of(self.keys.take(kept), counts[kept])
        self.__dict__.update(smaller.__dict__)

    def _arrays(self) -> tuple[Any, ...]:
        return self.slots, self.arena, self.offsets, self.hashes, self.counts, self.used

    def _grow(self) -> None:
        """Make twice the room of what is running short."""
        words, size = len(self.counts), len(self.arena)
        if len(self) == words:
            words *= 2
        else:
            size *= 2
        larger = WordTable(words, size)
        for old, new in zip(self._arrays()[1:], larger._arrays()[1:], strict=True):
            new[: len(old)] = old
        fill_slots(larger.slots, larger.hashes, len(self))
        self.__dict__.update(larger.__dict__)


def count_blocks(blocks: Iterable[Bytes], most: int | None = None) -> WordTable:
    """Count the words of blocks of text, a table a thread, and add the tables up.

    With `most`, a table that has grown past it forgets its rarest words, as word2vec does:
    memory stays bounded, and counts of rare words may be too low.
    """
    tables: SimpleQueue[WordTable] = SimpleQueue()
    for _ in range(THREADS):
        tables.put(WordTable())

    def count(block: Bytes) -> None:
        table = tables.get()
        table.count(block)
        if most is not None:
            table.forget_rare(most)
        tables.put(table)

    for _ in in_order(count, blocks):
        pass
    total = tables.get()
    for _ in range(THREADS - 1):
        total.add(tables.get())
    return total
