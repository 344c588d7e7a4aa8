"""ElmoTokenizer: texts to words, and words to the ids of their characters.

A token is a word, by the tokenizer of the model or by the rules of `English`, which also splits
Korean at spaces and punctuation. Tokens that a caller has split already are taken as they are.
Each text is between two boundary tokens, <S> and </S>.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Int64Array
from malmoi.encode.checkpoint.elmo_options import MAX_LENGTH, ElmoConfig
from malmoi.encode.tokens.inputs import Text, normalize_text, single_text
from malmoi.encode.tokens.text_tokenizer import TextTokenizer, WordCounter
from malmoi.encode.tokens.tokenizer import CHARACTERS_PER_TOKEN, head, split_blocks
from malmoi.errors import InvalidArgumentError
from malmoi.text.character_ids import (
    BEGIN_SENTENCE,
    END_SENTENCE,
    CharacterUnits,
    boundary_ids,
    character_ids,
    word_of,
)
from malmoi.text.tokenizers import English, Tokenizer, TokenSpan, tokenizer_from
from malmoi.text_inputs import JoinedTokens

BOUNDARIES = ("<S>", "</S>")
SENTENCE_MARKS = {BEGIN_SENTENCE: BOUNDARIES[0], END_SENTENCE: BOUNDARIES[1]}
DEFAULT_TOKENIZER = English(lower=False, marks=True, clitics=True)


@dataclass(frozen=True, eq=False)
class ElmoEncoding:
    """The words of a text between its boundaries; `overflowing` are the words that are left out."""

    spans: list[TokenSpan]
    units: CharacterUnits
    max_characters: int
    overflowing: tuple[TokenSpan, ...] = ()

    @cached_property
    def ids(self) -> npt.NDArray[np.int16]:
        """The character ids of each token, [tokens, characters]."""
        first, last = boundary_ids(self.max_characters).astype(np.int16)[:, np.newaxis]
        words = character_ids(
            (span.token for span in self.spans), self.max_characters, self.units
        ).astype(np.int16)
        return np.concatenate([first, words, last])

    @property
    def tokens(self) -> list[str]:
        """The words, with <S> and </S>."""
        return [BOUNDARIES[0], *(span.token for span in self.spans), BOUNDARIES[1]]

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The begin and end of each token in its text, in characters."""
        return [(0, 0), *((span.begin, span.end) for span in self.spans), (0, 0)]

    @property
    def special_tokens_mask(self) -> list[int]:
        """Which tokens are boundaries."""
        return [1, *([0] * len(self.spans)), 1]

    @property
    def type_ids(self) -> list[int]:
        """All tokens are those of a first text."""
        return [0] * len(self)

    @property
    def sequence_ids(self) -> list[int | None]:
        """The same, with None for the boundaries."""
        return [None, *([0] * len(self.spans)), None]

    @property
    def word_ids(self) -> list[int | None]:
        """The number of each token's word: each token is one."""
        return [None, *range(len(self.spans)), None]

    def __len__(self) -> int:
        return len(self.spans) + len(BOUNDARIES)


class NoFragments:
    """Counts words; none is a fragment, since a character CNN reads every word."""

    def count(
        self, encodings: Sequence[Any], texts: Sequence[Text]
    ) -> tuple[Int64Array, Int64Array]:
        """The number of words of each text, and zeros."""
        words = np.array([len(each) - len(BOUNDARIES) for each in encodings], np.int64)
        return words, np.zeros_like(words)


@dataclass(frozen=True, eq=False)
class ElmoTokenizer(TextTokenizer):
    """Splits texts into words, at most `max_length` with the boundaries."""

    splitter: Tokenizer
    units: CharacterUnits
    max_characters: int
    max_length: int = MAX_LENGTH

    def normalize(self, text: Text) -> Text:
        """A text in NFC; of a list of tokens, each token."""
        if isinstance(text, JoinedTokens):
            return JoinedTokens(normalize_text(token) for token in text.tokens)
        return normalize_text(single_text(text))

    def encode_batch(self, texts: Sequence[Text], *, offsets: bool = False) -> list[ElmoEncoding]:
        """The encodings of normalized texts; of a long one only the beginning is tokenized."""
        return [self._encode(single_text(text)) for text in texts]

    def encode_whole(
        self, text: str, *, offsets: bool = False
    ) -> Iterator[tuple[int, list[ElmoEncoding]]]:
        """All tokens of a normalized text of any length: encodings of blocks with their starts."""
        if isinstance(text, JoinedTokens):
            yield 0, [self._encoding(_spans_of(text.tokens), None)]
            return
        for start, block in split_blocks(text):
            yield start, [self._encoding(self.splitter.spans(block), None)]

    def _encode(self, text: str) -> ElmoEncoding:
        if isinstance(text, JoinedTokens):
            return self._encoding(_spans_of(text.tokens), self.max_text_tokens)
        size = self.max_length * CHARACTERS_PER_TOKEN
        spans = self.splitter.spans(head(text, size))
        while size < len(text) and len(spans) <= self.max_text_tokens:
            size *= 8
            spans = self.splitter.spans(head(text, size))
        return self._encoding(spans, self.max_text_tokens)

    def _encoding(self, spans: list[TokenSpan], limit: int | None) -> ElmoEncoding:
        rest = () if limit is None else tuple(spans[limit:])
        return ElmoEncoding(spans[:limit], self.units, self.max_characters, rest)

    def encode_tokens(self, tokens: Sequence[str]) -> ElmoEncoding:
        """The encoding of words that are taken as they are."""
        return self._encode(JoinedTokens(normalize_text(token) for token in tokens))

    def encode_ids(self, ids: Sequence[int]) -> ElmoEncoding:
        """An error: words have no ids."""
        raise InvalidArgumentError(
            "ELMo reads the characters of words and has no token ids: pass texts or tokens"
        )

    def token_strings(self, ids: npt.NDArray[np.integer[Any]]) -> list[str]:
        """The words with these character ids, as far as the model reads them."""
        return [SENTENCE_MARKS.get(row[1], word_of(row)) for row in ids.tolist()]

    def fold(self, text: str) -> str:
        """A text in NFC, in lower case if the model's tokenizer folds case."""
        folds, nfc = getattr(self.splitter, "lower", False), normalize_text(text)
        return nfc.lower() if folds else nfc

    @property
    def max_text_tokens(self) -> int:
        """The maximum number of words of a text."""
        return self.max_length - len(BOUNDARIES)

    @property
    def unk_token_id(self) -> int | None:
        """None: every word has characters."""
        return None

    @property
    def fragments(self) -> WordCounter:
        """Counts words; none is a fragment."""
        return NoFragments()


def elmo_tokenizer(config: ElmoConfig) -> ElmoTokenizer:
    """The tokenizer of a model, or the default one.

    Raises:
        InvalidArgumentError: The model names a tokenizer that does not exist.
    """
    splitter = tokenizer_from(config.tokenizer) if config.tokenizer else DEFAULT_TOKENIZER
    return ElmoTokenizer(splitter, config.units, config.max_characters)


def _spans_of(tokens: Sequence[str]) -> list[TokenSpan]:
    """The characters of tokens that are joined by spaces."""
    spans, at = [], 0
    for token in tokens:
        spans.append(TokenSpan(token, at, at + len(token)))
        at += len(token) + 1
    return spans
