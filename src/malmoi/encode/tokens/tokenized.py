"""Pieces: one text as a model sees it, with the way back into the text.

Knows nothing of vectors.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Int32Array

SPECIAL = -1


@dataclass(frozen=True, eq=False, repr=False)
class Tokenized:
    """A text, or a pair of them, cut into pieces; arrays have an entry a piece.

    `parts` says which text a piece is from: 0, 1 for the second of a pair, -1 for special
    pieces such as [CLS]; `words` numbers the words of both texts, again with -1; `offsets`
    [pieces, 2] are the first character of a piece in its text and the one after the last.
    """

    text: str
    pieces: tuple[str, ...]
    ids: Int32Array
    segments: Int32Array
    parts: Int32Array
    words: Int32Array
    offsets: Int32Array
    pair: str | None = None
    truncated: bool = False

    @property
    def special(self) -> npt.NDArray[np.bool_]:
        """Which pieces stand for no part of the text."""
        return np.equal(self.parts, SPECIAL)

    @property
    def mask(self) -> Int32Array:
        """What attention may see: every piece, for none is padding."""
        return np.ones(len(self), np.int32)

    @cached_property
    def word_starts(self) -> npt.NDArray[np.int64]:
        """The first piece of each word."""
        before = np.concatenate([[SPECIAL], self.words[:-1]])
        return np.flatnonzero((self.words != SPECIAL) & (self.words != before))

    @cached_property
    def word_stops(self) -> npt.NDArray[np.int64]:
        """The piece after the last of each word."""
        after = np.concatenate([self.words[1:], [SPECIAL]])
        return np.flatnonzero((self.words != SPECIAL) & (self.words != after)) + 1

    @cached_property
    def word_offsets(self) -> Int32Array:
        """Where each word begins and ends in its text, [words, 2]."""
        begins, ends = self.offsets[self.word_starts, 0], self.offsets[self.word_stops - 1, 1]
        return np.stack([begins, ends], axis=1)

    def word_texts(self) -> tuple[str, ...]:
        """The words as they are written."""
        texts = (self.text, self.pair or "")
        places = zip(self.parts[self.word_starts], self.word_offsets.tolist(), strict=True)
        return tuple(texts[part][begin:end] for part, (begin, end) in places)

    def __len__(self) -> int:
        return len(self.pieces)

    def __repr__(self) -> str:
        return f"Pieces({' '.join(self.pieces)})"
