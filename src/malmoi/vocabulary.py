"""Vocabulary: word, id and count of each, most frequent first.

Knows nothing of vectors, nor of where the counts come from.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from malmoi.errors import BadSetting, UnknownWord
from malmoi.keys import Keys

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
        """The words seen at least `min_count` times, at most `size` of them.

        Ordered by count, then by the word's bytes, so that every run gives the same ids.
        """
        kept = [(word, count) for word, count in counts.items() if count >= min_count]
        kept.sort(key=lambda item: (-item[1], item[0].encode("utf-8", "surrogateescape")))
        kept = kept[:size]
        return cls(
            Keys.of(word for word, _ in kept),
            np.array([count for _, count in kept], dtype=np.int64),
        )

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
