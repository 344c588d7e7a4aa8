"""TextTokenizer: what the text pipeline needs of a model's tokenizer, whatever the model.

An encoding has `ids`, `type_ids`, `special_tokens_mask`, `overflowing` and a length; with offsets
also `tokens`, `offsets`, `word_ids` and `sequence_ids`. These are the names of Hugging Face's
tokenizers.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from malmoi.arrays import Int64Array
from malmoi.encode.tokens.inputs import Text, check_texts
from malmoi.encode.tokens.tokenized import SPECIAL, Tokenized


class WordCounter(Protocol):
    """Counts words, and those that a model cannot read well."""

    def count(
        self, encodings: Sequence[Any], texts: Sequence[Text]
    ) -> tuple[Int64Array, Int64Array]:
        """The number of words of each text, and of fragments among them."""


class TextTokenizer(ABC):
    """Tokenizes texts for a model; truncates at `max_length` tokens, including special ones."""

    max_length: int

    @abstractmethod
    def normalize(self, text: Text) -> Text:
        """A text as the tokenizer gets it, such as in NFC; offsets refer to it."""

    @abstractmethod
    def encode_batch(self, texts: Sequence[Text], *, offsets: bool = False) -> list[Any]:
        """The encodings of normalized texts; offsets and word ids take a little longer."""

    @abstractmethod
    def encode_whole(self, text: str, *, offsets: bool = False) -> Iterator[tuple[int, list[Any]]]:
        """All tokens of a normalized text of any length: encodings of blocks with their starts."""

    @abstractmethod
    def encode_tokens(self, tokens: Sequence[str]) -> Any:
        """The encoding of a text that is tokenized already."""

    @abstractmethod
    def encode_ids(self, ids: Sequence[int]) -> Any:
        """The encoding of token ids; special tokens are added where they are missing.

        Raises:
            InvalidArgumentError: An id is not in the vocabulary.
        """

    @abstractmethod
    def token_strings(self, ids: Any) -> list[str]:
        """The tokens with these ids."""

    @abstractmethod
    def fold(self, text: str) -> str:
        """A text in which words that the model does not distinguish are the same."""

    @property
    @abstractmethod
    def max_text_tokens(self) -> int:
        """The maximum number of tokens of a text without the special ones."""

    @property
    @abstractmethod
    def unk_token_id(self) -> int | None:
        """The id of the unknown token."""

    @property
    @abstractmethod
    def fragments(self) -> WordCounter:
        """Counts words that the vocabulary covers only by letters, bytes or unknown tokens."""

    def add_prompt(self, texts: Sequence[Text], prompt: str) -> list[Text]:
        """Texts with a prompt before each; before the first text of a pair."""
        if not prompt:
            return list(texts)
        return [
            prompt + text if isinstance(text, str) else (prompt + text[0], text[1])
            for text in texts
        ]

    def is_truncated(self, encoding: Any) -> bool:
        """Whether the text was longer than the model reads."""
        return len(encoding) >= self.max_length and bool(encoding.overflowing)

    def __call__(self, texts: Sequence[Text]) -> list[Tokenized]:
        """Tokenize texts.

        Args:
            texts: Strings, or tuples of two strings for pairs.

        Returns:
            One `Tokenized` per text, truncated at `max_length` tokens.

        Raises:
            InvalidArgumentError: `texts` is a single string or contains something else.
        """
        normalized = [self.normalize(text) for text in check_texts(texts)]
        encodings = self.encode_batch(normalized, offsets=True)
        return [self.tokenized(*each) for each in zip(normalized, encodings, strict=True)]

    def tokenized(self, text: Text, encoding: Any) -> Tokenized:
        """The tokens of a normalized text from its encoding, which has offsets."""
        first, second = text if isinstance(text, tuple) else (text, None)
        sequences = [SPECIAL if number is None else number for number in encoding.sequence_ids]
        words = [SPECIAL if word is None else word for word in encoding.word_ids]
        of_first = (w for w, s in zip(words, sequences, strict=True) if s == 0)
        shift = 1 + max(of_first, default=-1)
        word_ids = [
            word + shift if sequence == 1 and word != SPECIAL else word
            for word, sequence in zip(words, sequences, strict=True)
        ]
        return Tokenized(
            text=first,
            pair=second,
            tokens=tuple(encoding.tokens),
            ids=np.array(encoding.ids, np.int32),
            token_type_ids=np.array(encoding.type_ids, np.int32),
            sequence_ids=np.array(sequences, np.int32),
            word_ids=np.array(word_ids, np.int32),
            offsets=np.array(encoding.offsets, np.int32).reshape(-1, 2),
            truncated=self.is_truncated(encoding),
        )
