"""Merges the n-gram counts of parts of a text into those of the whole text, bit by bit."""

from collections.abc import Iterable
from functools import reduce
from itertools import pairwise

import numpy as np

from malmoi.arrays import Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.counts.count_ngrams import pack, unpack
from malmoi.kernels.marks import LINE_END
from malmoi.models.ngram_counts import NgramCounts
from malmoi.models.trie import Trie


def merge_ngram_counts(parts: Iterable[NgramCounts]) -> NgramCounts:
    """The counts of all parts together; the parts have the same words.

    Raises:
        InvalidArgumentError: There are no parts, or their words or orders differ.
    """
    each = iter(parts)
    first = next(each, None)
    if first is None:
        raise InvalidArgumentError("there are no counts to merge")
    return reduce(_merged, each, first)


def split_lines(ids: UInt32Array, count: int) -> list[tuple[int, int]]:
    """The bounds of about `count` parts of a stream of ids, each of whole lines."""
    ends = np.flatnonzero(ids == LINE_END) + 1
    wanted = np.array([len(ids) * i // count for i in range(1, count)], dtype=np.int64)
    inner = ends[np.minimum(np.searchsorted(ends, wanted), len(ends) - 1)] if len(ends) else ends
    bounds = np.unique(np.r_[0, inner, len(ids)]).tolist()
    return list(pairwise(bounds))


def _merged(one: NgramCounts, other: NgramCounts) -> NgramCounts:
    """Order by order: an n-gram is packed by the row of its context, which the merge changes."""
    if one.order != other.order or len(one.trie.words) != len(other.trie.words):
        raise InvalidArgumentError("counts of different words or orders cannot be merged")
    pair = (one, other)
    packed, counts = [], [one.counts[0] + other.counts[0]]
    suffixes = [one.suffixes[0]]
    rows = [np.arange(len(one.trie.words))] * 2  # of each part's n-grams in the merged order
    for order in range(2, one.order + 1):
        renumbered = []
        for part, before in zip(pair, rows, strict=True):
            contexts, words = unpack(part.trie.packed[order - 2])
            renumbered.append(pack(before[contexts], words))
        union = np.unique(np.concatenate(renumbered))
        total, suffix = np.zeros((2, len(union)), dtype=np.int64)
        after: list[Int64Array] = [np.searchsorted(union, each) for each in renumbered]
        for part, before, here in zip(pair, rows, after, strict=True):
            total[here] += part.counts[order - 1]
            suffix[here] = before[part.suffixes[order - 1]]
        packed.append(union)
        counts.append(total)
        suffixes.append(suffix)
        rows = after
    return NgramCounts(Trie(one.trie.words, tuple(packed)), tuple(counts), tuple(suffixes))
