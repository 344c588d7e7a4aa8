"""N-grams counted by sorting, and found again by bisection.

An n-gram of order m is packed into 64 bits: the row of its first m - 1 words among the
n-grams of order m - 1, then its last word. So any order takes eight bytes, and what may
follow a context stands side by side. The rows of order 1 are the words themselves.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Int64Array, UInt32Array, UInt64Array
from malmoi.kernels.marks import LINE_END, UNKNOWN

WORD_BITS = np.uint64(32)
WORD_MASK = np.uint64(0xFFFFFFFF)


class Counted(NamedTuple):
    """The n-grams of one order; each array has one entry an n-gram."""

    packed: UInt64Array  # ascending
    counts: Int64Array
    suffixes: Int64Array  # the row of all but the first word, one order below


def mark_lines(ids: UInt32Array, unknown: int, begin: int, end: int) -> UInt32Array:
    """The stream with `begin` before each line, `end` after it and `unknown` for UNKNOWN."""
    if len(ids) and ids[-1] != LINE_END:
        ids = np.append(ids, np.uint32(LINE_END))
    ends = np.flatnonzero(ids == LINE_END)
    starts = np.r_[0, ends[:-1] + 1] if len(ends) else ends
    marked = np.insert(ids, starts, np.uint32(begin))
    marked[marked == LINE_END] = end
    marked[marked == UNKNOWN] = unknown
    return marked


def words_before(tokens: UInt32Array, begin: int) -> Int64Array:
    """How many tokens stand before each one in its line, `begin` included."""
    places = np.arange(len(tokens))
    line_starts: Int64Array = np.maximum.accumulate(np.where(tokens == begin, places, 0))
    return places - line_starts


def pack(contexts: npt.NDArray[np.integer], words: npt.NDArray[np.integer]) -> UInt64Array:
    """The n-grams made of a context's row and a word; a context of -1 makes one that is none."""
    packed: UInt64Array = contexts.astype(np.uint64) << WORD_BITS | words.astype(np.uint64)
    return packed


def unpack(packed: UInt64Array) -> tuple[Int64Array, Int64Array]:
    """The contexts' rows and the words of n-grams."""
    contexts = (packed >> WORD_BITS).astype(np.int64)
    return contexts, (packed & WORD_MASK).astype(np.int64)


def find(among: UInt64Array, asked: UInt64Array) -> Int64Array:
    """The row of each n-gram, or -1."""
    if not len(among):
        return np.full(len(asked), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(among, asked), len(among) - 1)
    return np.where(among[places] == asked, places, -1)
