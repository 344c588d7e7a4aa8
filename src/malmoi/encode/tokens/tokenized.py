"""Tokenized: one text as a model reads it, with the characters of each token.

Knows nothing of vectors. Field names are those of Hugging Face's tokenizers.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from malmoi.arrays import BoolArray, Int32Array, Int64Array

SPECIAL = -1  # as a word or sequence id


@dataclass(frozen=True, eq=False, repr=False)
class Tokenized:
    """The tokens of a text, or of a pair of texts; arrays have one entry per token.

    `ids` are the input ids; those of ELMo are of characters, [tokens, characters]. `sequence_ids`
    are 0, 1 for tokens of the second text of a pair, and -1 for special tokens such as [CLS].
    `word_ids` number the words of both texts, again with -1. `offsets` [tokens, 2] are the start
    and end of each token in its text, in characters.
    """

    text: str
    tokens: tuple[str, ...]
    ids: Int32Array
    token_type_ids: Int32Array
    sequence_ids: Int32Array
    word_ids: Int32Array
    offsets: Int32Array
    pair: str | None = None
    truncated: bool = False

    @property
    def is_special(self) -> BoolArray:
        """Which tokens are special, that is, do not stand for a part of the text."""
        return np.equal(self.sequence_ids, SPECIAL)

    @property
    def special_tokens_mask(self) -> Int32Array:
        """The same as 1 and 0."""
        return self.is_special.astype(np.int32)

    @property
    def attention_mask(self) -> Int32Array:
        """All ones, since no token is padding."""
        return np.ones(len(self), np.int32)

    @cached_property
    def word_starts(self) -> Int64Array:
        """The first token of each word."""
        before = np.concatenate([[SPECIAL], self.word_ids[:-1]])
        return np.flatnonzero((self.word_ids != SPECIAL) & (self.word_ids != before))

    @cached_property
    def word_stops(self) -> Int64Array:
        """The token after the last of each word."""
        after = np.concatenate([self.word_ids[1:], [SPECIAL]])
        return np.flatnonzero((self.word_ids != SPECIAL) & (self.word_ids != after)) + 1

    @cached_property
    def word_offsets(self) -> Int32Array:
        """The start and end of each word in its text, [words, 2]."""
        starts, ends = self.offsets[self.word_starts, 0], self.offsets[self.word_stops - 1, 1]
        return np.stack([starts, ends], axis=1)

    def word_texts(self) -> tuple[str, ...]:
        """The words as they are written."""
        texts = (self.text, self.pair or "")
        spans = zip(self.sequence_ids[self.word_starts], self.word_offsets.tolist(), strict=True)
        return tuple(texts[sequence][start:end] for sequence, (start, end) in spans)

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        return f"Tokenized({' '.join(self.tokens)})"
