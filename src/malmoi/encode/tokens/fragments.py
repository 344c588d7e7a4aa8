"""Fragments: words that reach a model only as single letters, bytes or unknown tokens.

A tokenizer splits words that its vocabulary lacks into ever smaller tokens: MiniLM reads 환불 as
five letters of Hangul, an English RoBERTa as six bytes. Such words mean next to nothing to the
model. They are counted from token ids alone; the text itself is read only if there are many.
Knows nothing of encoders.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any
from unicodedata import category, normalize

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Int64Array
from malmoi.encode.pooling.groups import group_bounds
from malmoi.encode.tokens.inputs import Text

# Bits of a token: it starts a word, has one letter, has several, is a byte or unknown; not looked
# up yet.
STARTS, LETTER, LETTERS, UNKNOWN, UNSEEN = 1, 2, 4, 8, 128
KINDS = (0, LETTER, LETTERS)  # by how many letters a token has
METASPACE, BYTE_SPACE = "▁", "Ġ"  # before the first token of a word
BYTE = re.compile("<0x[0-9A-F]{2}>")
IDEOGRAPH = re.compile("[㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff]")
FOREIGN_LETTER = re.compile(r"[^\W\d_\x00-\x7f]")
MIN_LONG_TOKENS = 0.5  # with a smaller share of longer tokens, a vocabulary is one of characters


class FragmentCounter:
    """Counts fragments by the kinds of tokens of a vocabulary, each looked up once.

    Args:
        token: The token with an id.
        size: The size of the vocabulary.
        unknown: The id of the unknown token.
        continuing: The prefix of tokens that continue a word, in vocabularies that mark them.
        from_bytes: The byte of each character of a byte-level vocabulary.
    """

    def __init__(
        self,
        token: Callable[[int], str | None],
        size: int,
        unknown: int | None,
        *,
        continuing: str = "",
        from_bytes: Mapping[str, int] | None = None,
    ) -> None:
        self._token, self._unknown = token, unknown
        self._continuing, self._from_bytes = continuing, from_bytes or {}
        self._kinds = np.full(size, UNSEEN, np.uint8)

    def count(
        self, encodings: Sequence[Any], texts: Sequence[Text]
    ) -> tuple[Int64Array, Int64Array]:
        """The number of words of each text, and of fragments among them."""
        for encoding in encodings[:1]:
            self.skip(
                [
                    i
                    for i, mask in zip(encoding.ids, encoding.special_tokens_mask, strict=True)
                    if mask
                ]
            )
        return self.count_ids([encoding.ids for encoding in encodings], texts)

    def skip(self, special: Sequence[int]) -> None:
        """Mark tokens that do not stand for text, such as [CLS]; they end the word before."""
        self._kinds_of(np.array(special, np.int64))  # extends the table if necessary
        self._kinds[[token_id for token_id in special if token_id != self._unknown]] = STARTS

    def count_ids(
        self, ids: Sequence[Sequence[int]], texts: Sequence[Text]
    ) -> tuple[Int64Array, Int64Array]:
        """The same from the token ids of each text."""
        sizes = np.fromiter(map(len, ids), np.int64, len(ids))
        kinds = self._kinds_of(np.fromiter(chain.from_iterable(ids), np.int64, int(sizes.sum())))
        if len(kinds) == 0:
            return np.zeros(len(ids), np.int64), np.zeros(len(ids), np.int64)
        bounds = group_bounds(sizes)
        begins = (kinds & STARTS).astype(np.bool_)
        begins[bounds[:-1][sizes > 0]] = True
        starts = np.flatnonzero(begins)
        bits = np.bitwise_or.reduceat(kinds, starts)
        single = np.add.reduceat((kinds & LETTER) // LETTER, starts, dtype=np.int64)
        whole = (bits & LETTERS) > 0
        unknown = ~whole & ((bits & UNKNOWN) > 0)
        spelled = ~whole & ~unknown & (single > 1)
        firsts = np.searchsorted(starts, bounds)  # the first word of each text

        def by_text(words: npt.NDArray[np.bool_]) -> Int64Array:
            return np.diff(group_bounds(words)[firsts])

        words = by_text((bits & (LETTER | LETTERS | UNKNOWN)) > 0)
        return words, self._confirmed(words, by_text(unknown), by_text(spelled), texts)

    def _confirmed(
        self, words: Int64Array, unknown: Int64Array, spelled: Int64Array, texts: Sequence[Text]
    ) -> Int64Array:
        """The fragments; where they are many, emoji and other unknown signs are not counted."""
        many = np.flatnonzero(is_fragmented(words, unknown + spelled))
        if len(many) and self._is_character_vocabulary:
            spelled = np.zeros_like(spelled)
        for i in many.tolist():
            text = texts[i]
            both = text if isinstance(text, str) else " ".join(text)
            foreign = sum(1 for word in both.split() if FOREIGN_LETTER.search(word))
            ideographs = len(IDEOGRAPH.findall(both))  # words without spaces between them
            unknown[i] = min(int(unknown[i]), max(foreign, ideographs))
        return unknown + spelled

    def _kinds_of(self, ids: Int64Array) -> npt.NDArray[np.uint8]:
        beyond = int(ids.max(initial=0)) + 1 - len(self._kinds)  # ids may have gaps
        if beyond > 0:
            self._kinds = np.pad(self._kinds, (0, beyond), constant_values=UNSEEN)
        kinds = self._kinds[ids]
        unseen = kinds == UNSEEN
        if unseen.any():
            for token_id in np.unique(ids[unseen]).tolist():
                self._kinds[token_id] = self._kind(token_id)
            kinds = self._kinds[ids]
        return kinds

    def _kind(self, token_id: int) -> int:
        token = self._token(token_id) or ""
        if self._continuing:
            starts = STARTS * (not token.startswith(self._continuing))
        else:
            starts = STARTS * token.startswith((METASPACE, BYTE_SPACE))
        content = None if token_id == self._unknown else self._content(token)
        return starts | (UNKNOWN if content is None else KINDS[min(count_letters(content), 2)])

    def _content(self, token: str) -> str | None:
        """The characters of a token; None for bytes that are only a part of a character."""
        if BYTE.fullmatch(token):
            return None
        if not self._from_bytes:
            return token.removeprefix(self._continuing).removeprefix(METASPACE)
        try:
            return bytes(self._from_bytes[character] for character in token).decode()
        except KeyError:  # an added token, which is plain text
            return token
        except UnicodeDecodeError:
            return None

    @cached_property
    def _is_character_vocabulary(self) -> bool:
        """Whether the vocabulary splits all languages into single characters."""
        tokens = (self._token(token_id) or "" for token_id in range(len(self._kinds)))
        contents = [self._content(token) for token in tokens]
        return sum(len(content or "") > 1 for content in contents) < MIN_LONG_TOKENS * len(contents)


def is_fragmented(words: Int64Array, fragments: Int64Array) -> npt.NDArray[np.bool_]:
    """Whether most words of a text are fragments."""
    return 2 * fragments > words


def count_letters(content: str) -> int:
    """The number of letters; 2 and more are equivalent. An ideograph is a word and counts as 2."""
    if IDEOGRAPH.search(content):
        return 2
    return sum(category(character).startswith("L") for character in normalize("NFD", content))


def fragment_counter(tokenizer: Any, unknown: int | None) -> FragmentCounter:
    """The counter for a `tokenizers.Tokenizer`."""
    continuing, from_bytes = "", None
    if type(tokenizer.model).__name__ in ("WordPiece", "WordLevel"):
        continuing = getattr(tokenizer.model, "continuing_subword_prefix", "##")
    elif "ByteLevel" in repr(tokenizer.pre_tokenizer):
        from_bytes = byte_characters()
    return FragmentCounter(
        tokenizer.id_to_token,
        tokenizer.get_vocab_size(),
        unknown,
        continuing=continuing,
        from_bytes=from_bytes,
    )


def byte_characters() -> dict[str, int]:
    """The byte that each character of a byte-level vocabulary stands for."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {
        chr(256 + i): byte for i, byte in enumerate(hidden)
    }
