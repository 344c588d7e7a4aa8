"""Trie: the set of n-grams up to an order, each with a row number.

The trie is flat arrays that can be memory-mapped, eight bytes per n-gram (see
`kernels.counts.count_ngrams`). Counts and probabilities are separate arrays, by row.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from malmoi.arrays import Int64Array, UInt32Array, UInt64Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.counts.count_ngrams import find, mark_lines, pack, unpack
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.keys import Keys
from malmoi.models.sentences import BEGIN, END, UNKNOWN_WORD, check_is_split, number_words


@dataclass(frozen=True, eq=False, repr=False)
class Trie:
    """`words` are the n-grams of order 1; `packed[i]`, ascending, those of order i + 2.

    The words include `<unk>`, `<s>` and `</s>`. Every prefix of an n-gram is an n-gram too.
    """

    words: Keys
    packed: tuple[UInt64Array, ...]

    def __post_init__(self) -> None:
        if min(self.unknown, self.begin, self.end) < 0:
            raise InvalidArgumentError(f"{UNKNOWN_WORD}, {BEGIN} and {END} must be among the words")

    @property
    def order(self) -> int:
        """The number of words of the longest n-grams."""
        return len(self.packed) + 1

    @property
    def sizes(self) -> list[int]:
        """The number of n-grams of each order."""
        return [len(self.words), *map(len, self.packed)]

    @cached_property
    def unknown(self) -> int:
        """The row of `<unk>`."""
        return self.words.find(UNKNOWN_WORD)

    @cached_property
    def begin(self) -> int:
        """The row of `<s>`."""
        return self.words.find(BEGIN)

    @cached_property
    def end(self) -> int:
        """The row of `</s>`."""
        return self.words.find(END)

    def ids(self, words: Sequence[str]) -> UInt32Array:
        """Return the row of each word, the row of `<unk>` for unknown words."""
        check_is_split(words)
        rows = self.words.find_all(words)
        return np.where(rows < 0, self.unknown, rows).astype(np.uint32)

    def encode(self, sentences: Iterable[Sequence[str]]) -> UInt32Array:
        """Encode sentences as one stream of ids, with LINE_END after each and UNKNOWN."""
        distinct, stream = number_words(sentences)
        rows = self.words.find_all(distinct)
        ids: UInt32Array = np.r_[np.where(rows < 0, UNKNOWN, rows), LINE_END].astype(np.uint32)
        encoded: UInt32Array = ids[np.minimum(stream, len(distinct))]
        return encoded

    def marked(self, ids: UInt32Array) -> UInt32Array:
        """Convert a stream of ids to rows of words, with `<s>` and `</s>` around each line."""
        too_large = ids[(ids >= len(self.words)) & (ids < UNKNOWN)]
        if len(too_large):
            raise InvalidArgumentError(
                f"id {too_large[0]:,} is in the text, but there are {len(self.words):,} words"
            )
        return mark_lines(ids, self.unknown, self.begin, self.end)

    def find(self, order: int, contexts: Int64Array, words: UInt32Array) -> Int64Array:
        """Return the row of each n-gram of this order (2 or more), or -1."""
        return find(self.packed[order - 2], pack(contexts, words))

    def row(self, ids: UInt32Array) -> int:
        """Return the row of one n-gram among those of its order, or -1."""
        rows = ids[:1].astype(np.int64)
        for order in range(2, len(ids) + 1):
            rows = self.find(order, rows, ids[order - 1 : order])
        return int(rows[0])

    def following(self, order: int, row: int) -> tuple[slice, Int64Array]:
        """Return the extensions of an n-gram by one word: their rows, and the added words."""
        packed = self.packed[order - 1]
        first, last = np.searchsorted(packed, pack(np.array([row, row + 1]), np.zeros(2, int)))
        return slice(int(first), int(last)), unpack(packed[first:last])[1]

    def spell(self, order: int, rows: Int64Array) -> list[Int64Array]:
        """Return the words of n-grams: one array of first words, one of second words, …"""
        words: list[Int64Array] = []
        for shorter in range(order, 1, -1):
            rows, last = unpack(self.packed[shorter - 2][rows])
            words.insert(0, last)
        return [rows, *words]

    def __repr__(self) -> str:
        return f"Trie({' + '.join(f'{size:,}' for size in self.sizes)} n-grams)"
