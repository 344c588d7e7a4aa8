"""NgramCounts: the number of occurrences of each n-gram of a text.

`train.language` estimates probabilities from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from malmoi.arrays import Int64Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.counts.count_ngrams import unpack
from malmoi.models.trie import Trie


class CountedNgram(NamedTuple):
    """An n-gram and its number of occurrences."""

    words: tuple[str, ...]
    times: int


@dataclass(frozen=True, eq=False, repr=False)
class NgramCounts:
    """`counts[m - 1]` has one entry per n-gram of order m, in the trie's order.

    `suffixes[m - 1]` is the row, among the n-grams of order m - 1, of the same n-gram
    without its first word. Sentences include `<s>` and `</s>`.
    """

    trie: Trie
    counts: tuple[Int64Array, ...]
    suffixes: tuple[Int64Array, ...]

    @property
    def order(self) -> int:
        """The number of words of the longest n-grams."""
        return self.trie.order

    def contexts(self, order: int) -> Int64Array:
        """Return the row of each n-gram's prefix (all but its last word); 0 for single words."""
        if order == 1:
            return np.zeros(len(self.trie.words), dtype=np.int64)
        return unpack(self.trie.packed[order - 2])[0]

    def count(self, words: Sequence[str]) -> int:
        """Return the number of occurrences of an n-gram, 0 if it was not seen.

        Args:
            words: the n-gram, 1 to `order` words.

        Raises:
            InvalidArgumentError: there are no words, or more than `order`.
        """
        if not 1 <= len(words) <= self.order:
            raise InvalidArgumentError(
                f"{len(words)} words: give an n-gram of 1 to {self.order} words"
            )
        row = self.trie.row(self.trie.ids(words))
        return 0 if row < 0 else int(self.counts[len(words) - 1][row])

    def most_common(self, k: int = 10, *, order: int | None = None) -> list[CountedNgram]:
        """Return the most frequent n-grams of an order.

        Args:
            k: how many n-grams.
            order: their number of words, the highest order by default.

        Returns:
            At most k n-grams with their counts, most frequent first.

        Raises:
            InvalidArgumentError: n-grams of this order were not counted.
        """
        order = self.order if order is None else order
        if not 1 <= order <= self.order:
            raise InvalidArgumentError(
                f"order is {order}: n-grams of order 1 to {self.order} were counted"
            )
        counts = self.counts[order - 1]
        rows = np.argsort(-counts, kind="stable")[:k]
        spellings = zip(*(words.tolist() for words in self.trie.spell(order, rows)), strict=True)
        return [
            CountedNgram(tuple(self.trie.words[word] for word in ngram), count)
            for ngram, count in zip(spellings, counts[rows].tolist(), strict=True)
        ]

    def __repr__(self) -> str:
        sizes = " + ".join(f"{size:,}" for size in self.trie.sizes)
        return f"NgramCounts({sizes} n-grams, {int(self.counts[0].sum()):,} words)"
