"""Vocabulary: word, id and count of each, most frequent first.

Knows nothing of vectors, nor of where the counts come from.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from malmoi.errors import BadSetting, UnknownWord
from malmoi.keys import Keys, encode

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Vocabulary:
    """`words[i]` was seen `counts[i]` times; `i` is its id."""

    words: Keys
    counts: Counts

    def __post_init__(self) -> None:
        if len(self.words) != len(self.counts):
            raise BadSetting(f"{len(self.counts)} counts for {len(self.words)} words")

    @classmethod
    def of(cls, counts: Mapping[str, int], *, min_count: int = 1, size: int | None = None) -> Self:
        """The words seen at least `min_count` times, at most `size` of them."""
        numbers = np.fromiter(counts.values(), dtype=np.int64, count=len(counts))
        return cls.chosen(Keys.of(counts), numbers, min_count=min_count, size=size)

    @classmethod
    def chosen(
        cls,
        words: Keys,
        counts: Counts,
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
        marks = [encode(word) for word in special]
        ranked = sorted((-int(counts[row]), words.bytes_at(row)) for row in kept.tolist())
        ranked = [pair for pair in ranked if pair[1] not in marks][:size]
        seen = [0 if row < 0 else int(counts[row]) for row in map(words.find, special)]
        return cls(
            Keys.of_bytes([*marks, *(word for _, word in ranked)]),
            np.array([*seen, *(-count for count, _ in ranked)], dtype=np.int64),
        )

    def merged(self, other: "Vocabulary") -> "Vocabulary":
        """The words of both, their counts added."""
        total = dict(zip(self.words, self.counts.tolist(), strict=True))
        for word, count in zip(other.words, other.counts.tolist(), strict=True):
            total[word] = total.get(word, 0) + count
        return Vocabulary.of(total, min_count=0)

    def id(self, word: str) -> int:
        """The id of a word; `UnknownWord` if it has none."""
        found = self.words.find(word)
        if found < 0:
            raise UnknownWord(word)
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
