"""Vocabulary: word, id and count of each, most frequent first.

Knows nothing of vectors, nor of where the counts come from.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Int64Array
from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.keys import Keys


@dataclass(frozen=True, eq=False, repr=False)
class Vocabulary:
    """`words[i]` was seen `counts[i]` times; `i` is its id."""

    words: Keys
    counts: Int64Array

    def __post_init__(self) -> None:
        if len(self.words) != len(self.counts):
            raise InvalidArgumentError(f"{len(self.counts)} counts for {len(self.words)} words")
        if len(self.counts) and self.counts.min() < 0:
            raise InvalidArgumentError(
                f"a word was seen {self.counts.min()} times: counts are 0 or more"
            )

    @classmethod
    def of(cls, counts: Mapping[str, int], *, min_count: int = 1, size: int | None = None) -> Self:
        """The words seen at least `min_count` times, at most `size` of them."""
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
        """The words seen at least `min_count` times, at most `size`, after the special ones.

        Ordered by count, then by the word's bytes, so that every run gives the same ids.
        """
        kept = np.flatnonzero(counts >= min_count)
        if size is not None and 0 < size < len(kept):  # ties at the end are still to be ordered
            least = np.partition(counts[kept], len(kept) - size)[len(kept) - size]
            kept = kept[counts[kept] >= least]
        chosen = kept[by_frequency(words.take(kept), counts[kept])]
        marks = Keys.of(special)
        marked = words.find_all(marks)
        chosen = chosen[~np.isin(chosen, marked)][:size]
        seen = np.where(marked < 0, 0, counts[marked])
        plain = words.take(chosen)
        packed = np.concatenate([marks.packed, plain.packed])
        offsets = np.concatenate([marks.offsets, marks.offsets[-1] + plain.offsets[1:]])
        return cls(Keys(packed, offsets), np.concatenate([seen, counts[chosen]]).astype(np.int64))

    def merged(self, other: "Vocabulary") -> "Vocabulary":
        """The words of both, their counts added."""
        total = dict(zip(self.words, self.counts.tolist(), strict=True))
        for word, count in zip(other.words, other.counts.tolist(), strict=True):
            total[word] = total.get(word, 0) + count
        return Vocabulary.of(total, min_count=0)

    def id(self, word: str) -> int:
        """The id of a word; `UnknownWordError` if it has none."""
        found = self.words.find(word)
        if found < 0:
            raise UnknownWordError(word, where="the vocabulary")
        return found

    def count(self, word: str) -> int:
        """How often a word was seen; 0 if never."""
        found = self.words.find(word)
        return 0 if found < 0 else int(self.counts[found])

    def word_index(self, start: int = 1) -> dict[str, int]:
        """Word to number from `start` on, as Keras' tokenizers keep it (0 is padding)."""
        return {word: number for number, word in enumerate(self.words, start)}

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.words

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,} words, {int(self.counts.sum()):,} seen)"


def by_frequency(words: Keys, counts: Int64Array) -> npt.NDArray[np.int64]:
    """The order of words by count, most first, then by their bytes."""
    starts = prefixes(words)
    order = np.lexsort((starts[:, 1], starts[:, 0], -counts))
    # Words of the same count that begin with the same bytes are looked at one by one.
    alike = (np.diff(counts[order]) == 0) & ~np.diff(starts[order], axis=0).any(axis=1)
    pairs = np.flatnonzero(alike)
    for run in np.split(pairs, np.flatnonzero(np.diff(pairs) > 1) + 1):
        if len(run):
            span = slice(run[0], run[-1] + 2)
            order[span] = sorted(order[span].tolist(), key=words.bytes_at)
    return order


def prefixes(words: Keys) -> npt.NDArray[np.uint64]:
    """The first sixteen bytes of each word as two numbers that sort as the bytes do."""
    places = words.offsets[:-1, np.newaxis] + np.arange(16)
    inside = places < words.offsets[1:, np.newaxis]
    bytes_of = np.zeros(places.shape, dtype=np.uint8)
    bytes_of[inside] = words.packed[places[inside]]
    return bytes_of.view(">u8").astype(np.uint64)
