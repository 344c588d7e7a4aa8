"""NgramCounts: how often each n-gram of a text was seen.

Knows nothing of probabilities; `train` makes those of it.
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
    """Words that follow each other and how often they do."""

    words: tuple[str, ...]
    times: int


@dataclass(frozen=True, eq=False, repr=False)
class NgramCounts:
    """`counts[m - 1]` has an entry for each n-gram of order m, in the trie's order.

    `suffixes[m - 1]` is the row, among the n-grams of order m - 1, of the same n-gram
    without its first word. Sentences count with their `<s>` and `</s>`.
    """

    trie: Trie
    counts: tuple[Int64Array, ...]
    suffixes: tuple[Int64Array, ...]

    @property
    def order(self) -> int:
        """How many words the longest n-grams have."""
        return self.trie.order

    def contexts(self, order: int) -> Int64Array:
        """The row of each n-gram without its last word; 0 for single words."""
        if order == 1:
            return np.zeros(len(self.trie.words), dtype=np.int64)
        return unpack(self.trie.packed[order - 2])[0]

    def count(self, words: Sequence[str]) -> int:
        """How often these words were seen in a row; 0 if never."""
        if not 1 <= len(words) <= self.order:
            raise InvalidArgumentError(
                f"{len(words)} words were asked for, 1 to {self.order} in a row were counted"
            )
        row = self.trie.row(self.trie.ids(words))
        return 0 if row < 0 else int(self.counts[len(words) - 1][row])

    def most_common(self, k: int = 10, *, order: int | None = None) -> list[CountedNgram]:
        """The k n-grams of an order (the highest if none is named) seen most often."""
        order = self.order if order is None else order
        if not 1 <= order <= self.order:
            raise InvalidArgumentError(
                f"order {order} was asked for, 1 to {self.order} were counted"
            )
        counts = self.counts[order - 1]
        rows = np.argsort(-counts, kind="stable")[:k]
        spelled = zip(*(words.tolist() for words in self.trie.spell(order, rows)), strict=True)
        return [
            CountedNgram(tuple(self.trie.words[word] for word in ngram), count)
            for ngram, count in zip(spelled, counts[rows].tolist(), strict=True)
        ]

    def __repr__(self) -> str:
        sizes = " + ".join(f"{size:,}" for size in self.trie.sizes)
        return f"NgramCounts({sizes} n-grams, {int(self.counts[0].sum()):,} words)"
