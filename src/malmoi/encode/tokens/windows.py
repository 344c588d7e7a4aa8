"""Texts longer than a model reads, in overlapping windows that are joined to one sequence.

A window has as many tokens of the text as the model takes, between its special tokens. All windows
of a text are equally long; each begins the same number of tokens after the one before, except that
the last ends where the text ends. A token can be in several windows: its state comes from the
window with most context, that is, where the smaller of the numbers of text tokens before and after
it is largest; of two such windows, from the earlier. The special tokens before the text come from
the first window, those after it from the last. So the joined sequence has every token once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from malmoi.arrays import Int32Array, Int64Array
from malmoi.encode.tokens.inputs import Text
from malmoi.encode.tokens.text_tokenizer import TextTokenizer
from malmoi.encode.tokens.tokenized import SPECIAL, Tokenized
from malmoi.errors import InvalidArgumentError

Overflow = Literal["truncate", "windows"]
OVERFLOWS: tuple[Overflow, ...] = get_args(Overflow)
MAX_STATE_BYTES = 1 << 30  # of one text
PAIR_IN_WINDOWS = "overflow='windows' does not take pairs: pass single texts, or truncate"


@dataclass(frozen=True, eq=False)
class Window:
    """A window as the model reads it; `kept` are the tokens that have most context in it."""

    ids: Int32Array
    type_ids: Int32Array
    special_tokens_mask: Int32Array
    kept: slice

    def __len__(self) -> int:
        return len(self.ids)


def check_overflow(overflow: Overflow, overlap: int | None, tokenizer: TextTokenizer) -> int | None:
    """The overlap of windows in tokens, by default half a window; None if texts are truncated."""
    if overflow not in OVERFLOWS:
        raise InvalidArgumentError(
            f"overflow must be one of {', '.join(OVERFLOWS)}; got '{overflow}'"
        )
    if overflow == "truncate":
        if overlap is not None:
            raise InvalidArgumentError(f"overlap={overlap} needs overflow='windows'")
        return None
    size = tokenizer.max_text_tokens
    if overlap is not None and not 0 <= overlap < size:
        raise InvalidArgumentError(
            f"overlap must be from 0 to {size - 1} for windows of {size} tokens; got {overlap}"
        )
    return size // 2 if overlap is None else overlap


def window_starts(tokens: int, size: int, overlap: int) -> list[int]:
    """The first tokens of windows of `size` tokens in a longer text."""
    return [*range(0, tokens - size, size - overlap), tokens - size]


def windows_of(encoding: Any, ids: Int32Array, overlap: int) -> list[Window]:
    """The windows of a text with a truncated encoding; `ids` are all its tokens."""
    special = np.array(encoding.special_tokens_mask)
    template, types = np.array(encoding.ids, np.int32), np.array(encoding.type_ids, np.int32)
    inside = np.flatnonzero(special == 0)
    if len(ids) == len(inside):
        return [Window(template, types, special, slice(0, len(template)))]
    before, size = int(inside[0]), len(inside)
    starts = window_starts(len(ids), size, overlap)
    # Of two windows of equal length, a token has more context in the one whose middle is nearer.
    borders = [(a + b + size + 1) // 2 for a, b in pairwise(starts)]
    windows = []
    for start, first, last in zip(starts, [None, *borders], [*borders, None], strict=True):
        filled = template.copy()
        filled[before : before + size] = ids[start : start + size]
        kept = slice(*(None if end is None else end - start + before for end in (first, last)))
        windows.append(Window(filled, types, special, kept))
    return windows


def all_ids(tokenizer: TextTokenizer, text: Text, encoding: Any) -> Int32Array:
    """All token ids of a normalized text without special ones, given its truncated encoding."""
    if not isinstance(text, str):
        raise InvalidArgumentError(PAIR_IN_WINDOWS)
    parts = [encoding]
    if tokenizer.is_truncated(encoding):
        parts = [part for _, block in tokenizer.encode_whole(text) for part in block]
    each = [np.array(p.ids, np.int32)[np.equal(p.special_tokens_mask, 0)] for p in parts]
    return np.concatenate(each)


def untruncated(tokenizer: TextTokenizer, text: Tokenized) -> Tokenized:
    """All tokens of a text that may be truncated."""
    if text.pair is not None:
        raise InvalidArgumentError(PAIR_IN_WINDOWS)
    if not text.truncated:
        return text
    blocks = (
        (start, [tokenizer.tokenized(text.text, part) for part in block])
        for start, block in tokenizer.encode_whole(text.text, offsets=True)
    )
    return join_blocks(text, blocks)


def check_memory(texts: Sequence[Tokenized], values_per_token: int) -> None:
    """Raise InvalidArgumentError for a text whose hidden states would not fit into memory."""
    for text in texts:
        num_bytes = len(text) * values_per_token * 4
        if num_bytes > MAX_STATE_BYTES:
            raise InvalidArgumentError(
                f"the hidden states of a text of {len(text):,} tokens need"
                f" {num_bytes / 1e9:.1f} GB: choose fewer layers, encode texts, or split it"
            )


def join_blocks(text: Tokenized, blocks: Iterable[tuple[int, list[Tokenized]]]) -> Tokenized:
    """All tokens of a truncated text, from its tokenized blocks and their starts."""
    inside = np.flatnonzero(~text.is_special)
    parts = [_select(text, slice(0, int(inside[0])), 0, 0)]
    words = 0
    for start, tokenized in blocks:
        block = [
            _select(part, np.flatnonzero(~part.is_special), start, words) for part in tokenized
        ]
        words = max([words, *(1 + int(part.word_ids.max(initial=SPECIAL)) for part in block)])
        parts += block
    parts.append(_select(text, slice(int(inside[-1]) + 1, len(text)), 0, 0))
    return Tokenized(
        text=text.text,
        tokens=tuple(token for part in parts for token in part.tokens),
        ids=np.concatenate([part.ids for part in parts]),
        token_type_ids=np.concatenate([part.token_type_ids for part in parts]),
        sequence_ids=np.concatenate([part.sequence_ids for part in parts]),
        word_ids=np.concatenate([part.word_ids for part in parts]),
        offsets=np.concatenate([part.offsets for part in parts]),
    )


def _select(part: Tokenized, chosen: slice | Int64Array, start: int, words: int) -> Tokenized:
    """Some tokens, with offsets and word ids counted from the beginning of the text."""
    is_special, word_ids = part.is_special[chosen], part.word_ids[chosen]
    offsets = np.where(is_special[:, np.newaxis], 0, part.offsets[chosen] + start)
    return Tokenized(
        text="",
        tokens=tuple(np.array(part.tokens, object)[chosen]),
        ids=part.ids[chosen],
        token_type_ids=part.token_type_ids[chosen],
        sequence_ids=part.sequence_ids[chosen],
        word_ids=np.where(word_ids == SPECIAL, SPECIAL, word_ids + words).astype(np.int32),
        offsets=offsets.astype(np.int32),
    )
