"""Vocabulary: words with their ids and counts, most frequent first.

Knows nothing about vectors, nor about where the counts come from.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from malmoi.arguments import expect
from malmoi.arrays import Int64Array
from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.keys import Keys
from malmoi.table import HEAD, Table, Tabular


@dataclass(frozen=True, eq=False, repr=False)
class Vocabulary(Tabular):
    """Words with ids and counts: `words[i]` has the id `i` and occurs `counts[i]` times.

    `len`, `in` and iteration are over the words. `Vocabulary.of` makes one from a dictionary.

    Args:
        words: The words in the order of their ids.
        counts: How often each occurs; [n].

    Raises:
        InvalidArgumentError: There are not as many counts as words, or a count is negative.
    """

    words: Keys
    counts: Int64Array

    def __post_init__(self) -> None:
        if len(self.words) != len(self.counts):
            raise InvalidArgumentError(f"{len(self.counts)} counts for {len(self.words)} words")
        if len(self.counts) and self.counts.min() < 0:
            raise InvalidArgumentError(
                f"a word has the count {self.counts.min()}: counts must be 0 or more"
            )

    @classmethod
    def of(cls, counts: Mapping[str, int], *, min_count: int = 1, size: int | None = None) -> Self:
        """Make a vocabulary from counts.

        Args:
            counts: How often each word occurs.
            min_count: Leave out words that occur less often.
            size: Take at most so many words, the most frequent ones; None takes all.

        Returns:
            The vocabulary, most frequent word first; equal counts in the order of their bytes.
        """
        expect(counts, Mapping, "counts", "a dictionary from words to counts")
        numbers = np.fromiter(counts.values(), dtype=np.int64, count=len(counts))
        return cls.chosen(Keys.of(counts), numbers, min_count=min_count, size=size)

    @classmethod
    def chosen(
        cls,
        words: Keys,
        counts: Int64Array,
        *,
        min_count: int = 1,
        size: int | None = None,
        special: Sequence[str] = (),
    ) -> Self:
        """Select words by count, after the special ones, which need not occur.

        Words are ordered by count, then by their bytes, so that every run gives the same ids.

        Args:
            words: All words.
            counts: How often each occurs; [n].
            min_count: Leave out words that occur less often.
            size: Take at most so many words besides the special ones; None takes all.
            special: Words that come first.

        Returns:
            The vocabulary.
        """
        rows = np.flatnonzero(counts >= min_count)
        if size is not None and 0 < size < len(rows):  # keeps all ties at the end: ordered below
            lowest_count = np.partition(counts[rows], len(rows) - size)[len(rows) - size]
            rows = rows[counts[rows] >= lowest_count]
        rows = rows[by_frequency(words.take(rows), counts[rows])]
        special_keys = Keys.of(special)
        special_rows = words.find_all(special_keys)
        rows = rows[~np.isin(rows, special_rows)][:size]
        special_counts = np.where(special_rows < 0, 0, counts[special_rows])
        plain = words.take(rows)
        packed = np.concatenate([special_keys.packed, plain.packed])
        offsets = np.concatenate(
            [special_keys.offsets, special_keys.offsets[-1] + plain.offsets[1:]]
        )
        all_counts = np.concatenate([special_counts, counts[rows]]).astype(np.int64)
        return cls(Keys(packed, offsets), all_counts)

    def merged(self, other: "Vocabulary") -> "Vocabulary":
        """Merge two vocabularies.

        Args:
            other: Another vocabulary.

        Returns:
            The words of both, with their counts added.
        """
        total = dict(zip(self.words, self.counts.tolist(), strict=True))
        for word, count in zip(other.words, other.counts.tolist(), strict=True):
            total[word] = total.get(word, 0) + count
        return Vocabulary.of(total, min_count=0)

    def id(self, word: str) -> int:
        """Look up the id of a word.

        Args:
            word: The word.

        Returns:
            Its id, from 0 on.

        Raises:
            UnknownWordError: The word is not in the vocabulary.
        """
        row = self.words.find(word)
        if row < 0:
            raise UnknownWordError(word, where="the vocabulary")
        return row

    def count(self, word: str) -> int:
        """Look up the count of a word.

        Args:
            word: The word.

        Returns:
            How often it occurs; 0 if it is not in the vocabulary.
        """
        row = self.words.find(word)
        return 0 if row < 0 else int(self.counts[row])

    def word_index(self, start: int = 1) -> dict[str, int]:
        """Number the words as Keras' tokenizers do, which reserve 0 for padding.

        Args:
            start: The number of the first word.

        Returns:
            A dictionary from words to numbers.
        """
        return {word: number for number, word in enumerate(self.words, start)}

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.words

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,} words, {int(self.counts.sum()):,} seen)"

    def _table(self) -> Table:
        title = f"Vocabulary: {len(self):,} words, {int(self.counts.sum()):,} seen"
        rows = list(zip(self.words[:HEAD], self.counts[:HEAD].tolist(), strict=True))
        return Table(title, ["word", "count"], rows, len(self))


def by_frequency(words: Keys, counts: Int64Array) -> npt.NDArray[np.int64]:
    """The rows of words by falling count, then by their bytes."""
    starts = prefixes(words)
    order = np.lexsort((starts[:, 1], starts[:, 0], -counts))
    # Words of the same count that begin with the same bytes are compared one by one.
    is_tie = (np.diff(counts[order]) == 0) & ~np.diff(starts[order], axis=0).any(axis=1)
    pairs = np.flatnonzero(is_tie)
    for run in np.split(pairs, np.flatnonzero(np.diff(pairs) > 1) + 1):
        if len(run):
            span = slice(run[0], run[-1] + 2)
            order[span] = sorted(order[span].tolist(), key=words.bytes_at)
    return order


def prefixes(words: Keys) -> npt.NDArray[np.uint64]:
    """The first sixteen bytes of each word as two numbers that sort as the bytes do."""
    positions = words.offsets[:-1, np.newaxis] + np.arange(16)
    inside = positions < words.offsets[1:, np.newaxis]
    bytes_of = np.zeros(positions.shape, dtype=np.uint8)
    bytes_of[inside] = words.packed[positions[inside]]
    return bytes_of.view(">u8").astype(np.uint64)
