"""Packs n-grams into integers, to count them by sorting and find them by bisection.

An n-gram of order m is packed into 64 bits: the row of its first m - 1 words among the
n-grams of order m - 1, then its last word. So an n-gram of any order takes eight bytes, and the
words that follow a context are adjacent. The rows of order 1 are the words themselves.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Int64Array, UInt32Array, UInt64Array
from malmoi.kernels.marks import LINE_END, UNKNOWN

WORD_BITS = np.uint64(32)
WORD_MASK = np.uint64(0xFFFFFFFF)


class CountedOrder(NamedTuple):
    """The n-grams of one order; each array has one entry per n-gram."""

    packed: UInt64Array  # ascending
    counts: Int64Array
    suffixes: Int64Array  # the row of the n-gram without its first word, one order below


def mark_lines(ids: UInt32Array, unknown: int, begin: int, end: int) -> UInt32Array:
    """Return the stream with `begin` before each line, `end` after it and `unknown` for UNKNOWN."""
    if len(ids) and ids[-1] != LINE_END:
        ids = np.append(ids, np.uint32(LINE_END))
    ends = np.flatnonzero(ids == LINE_END)
    starts = np.r_[0, ends[:-1] + 1] if len(ends) else ends
    marked = np.insert(ids, starts, np.uint32(begin))
    marked[marked == LINE_END] = end
    marked[marked == UNKNOWN] = unknown
    return marked


def words_before(tokens: UInt32Array, begin: int) -> Int64Array:
    """Return the number of tokens before each one in its line, `begin` included."""
    positions = np.arange(len(tokens))
    line_starts: Int64Array = np.maximum.accumulate(np.where(tokens == begin, positions, 0))
    return positions - line_starts


def pack(contexts: npt.NDArray[np.integer], words: npt.NDArray[np.integer]) -> UInt64Array:
    """Pack the rows of contexts and words into n-grams; a context of -1 gives no valid n-gram."""
    packed: UInt64Array = contexts.astype(np.uint64) << WORD_BITS | words.astype(np.uint64)
    return packed


def unpack(packed: UInt64Array) -> tuple[Int64Array, Int64Array]:
    """Return the rows of contexts and the words of n-grams."""
    contexts = (packed >> WORD_BITS).astype(np.int64)
    return contexts, (packed & WORD_MASK).astype(np.int64)


def find(ngrams: UInt64Array, queries: UInt64Array) -> Int64Array:
    """Return the row of each query among the sorted n-grams, or -1."""
    if not len(ngrams):
        return np.full(len(queries), -1, dtype=np.int64)
    rows = np.minimum(np.searchsorted(ngrams, queries), len(ngrams) - 1)
    return np.where(ngrams[rows] == queries, rows, -1)
