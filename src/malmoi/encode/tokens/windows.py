"""Texts longer than a model takes, read in windows that overlap and joined to one long sequence.

A window is as many pieces of the text as the model takes, between its special pieces. All windows
of a text are equally long; each begins the same number of pieces after the one before, except that
the last ends where the text ends. A piece may stand in several windows: its state is that of the
one where it has most context, that is, where the smaller of two numbers, the pieces of text before
it and those after it in the window, is largest; of two such windows, the earlier. The special
pieces before the text are those of the first window, those after it of the last. So the joined
sequence has every piece once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Int32Array
from malmoi.encode.tokens.inputs import Text
from malmoi.encode.tokens.tokenized import SPECIAL, Tokenized
from malmoi.encode.tokens.tokenizer import ModelTokenizer
from malmoi.errors import InvalidArgumentError

Long = Literal["truncate", "windows"]
LONGS: tuple[Long, ...] = get_args(Long)
MOST = 1 << 30  # bytes of a text's states


@dataclass(frozen=True, eq=False)
class Window:
    """A window as the model gets it; `kept` are its pieces that have most context in it."""

    ids: Int32Array
    type_ids: Int32Array
    special_tokens_mask: Int32Array
    kept: slice

    def __len__(self) -> int:
        return len(self.ids)


def check_windows(long: Long, overlap: int | None, cutter: ModelTokenizer) -> int | None:
    """How many pieces windows share, half of them if nobody says; None if texts are truncated."""
    if long not in LONGS:
        raise InvalidArgumentError(
            f"long texts are not for '{long}': choose one of {', '.join(LONGS)}"
        )
    if long == "truncate":
        if overlap is not None:
            raise InvalidArgumentError(
                f"an overlap of {overlap} is for windows: ask for long='windows'"
            )
        return None
    room = cutter.room
    if overlap is not None and not 0 <= overlap < room:
        raise InvalidArgumentError(
            f"windows of {room} pieces cannot overlap by {overlap}: 0 to {room - 1}"
        )
    return room // 2 if overlap is None else overlap


def window_starts(pieces: int, room: int, overlap: int) -> list[int]:
    """Where windows of `room` pieces begin in a text that has more."""
    return [*range(0, pieces - room, room - overlap), pieces - room]


def windows_of(cut: Any, ids: Int32Array, overlap: int) -> list[Window]:
    """The windows of a text that the tokenizer cut off as `cut`; `ids` are all its pieces."""
    special = np.array(cut.special_tokens_mask)
    edges, types = np.array(cut.ids, np.int32), np.array(cut.type_ids, np.int32)
    inside = np.flatnonzero(special == 0)
    if len(ids) == len(inside):
        return [Window(edges, types, special, slice(0, len(edges)))]
    before, room = int(inside[0]), len(inside)
    starts = window_starts(len(ids), room, overlap)
    # Of two windows equally long, a piece has more context in that whose middle is nearer.
    borders = [(a + b + room + 1) // 2 for a, b in pairwise(starts)]
    found = []
    for start, first, last in zip(starts, [None, *borders], [*borders, None], strict=True):
        filled = edges.copy()
        filled[before : before + room] = ids[start : start + room]
        kept = slice(*(None if at is None else at - start + before for at in (first, last)))
        found.append(Window(filled, types, special, kept))
    return found


def all_ids(cutter: ModelTokenizer, text: Text, cut: Any) -> Int32Array:
    """All pieces of a uniform text that was cut off as `cut`, without the special ones."""
    if not isinstance(text, str):
        raise InvalidArgumentError("a pair is not read in windows: give single texts, or truncate")
    parts = [cut]
    if cutter.is_truncated(cut):
        parts = [part for _, block in cutter.all_of(text) for part in block]
    each = [np.array(p.ids, np.int32)[np.equal(p.special_tokens_mask, 0)] for p in parts]
    return np.concatenate(each)


def all_pieces(cutter: ModelTokenizer, cut: Tokenized) -> Tokenized:
    """The pieces of a uniform text without an end to them."""
    if cut.pair is not None:
        raise InvalidArgumentError("a pair is not read in windows: give single texts, or truncate")
    if not cut.truncated:
        return cut
    blocks = (
        (start, [cutter.pieces(cut.text, part) for part in block])
        for start, block in cutter.all_of(cut.text, offsets=True)
    )
    return join_pieces(cut, blocks)


def refuse_too_many(texts: Sequence[Tokenized], numbers: int) -> None:
    """Refuse texts whose states, so many numbers a piece, no memory could hold."""
    for text in texts:
        if len(text) * numbers * 4 > MOST:
            raise InvalidArgumentError(
                f"a text of {len(text):,} pieces has too many states to be held at once"
                f" ({len(text) * numbers * 4 / 1e9:.1f} GB): ask for fewer layers or for vectors of"
                " texts, or split it"
            )


def join_pieces(cut: Tokenized, blocks: Iterable[tuple[int, list[Tokenized]]]) -> Tokenized:
    """All pieces of a text that was cut off as `cut`, from its blocks and where these begin."""
    inside = np.flatnonzero(~cut.special)
    found = [_taken(cut, slice(0, int(inside[0])), 0, 0)]
    words = 0
    for start, parts in blocks:
        block = [_taken(part, np.flatnonzero(~part.special), start, words) for part in parts]
        words = max([words, *(1 + int(part.words.max(initial=SPECIAL)) for part in block)])
        found += block
    found.append(_taken(cut, slice(int(inside[-1]) + 1, len(cut)), 0, 0))
    return Tokenized(
        text=cut.text,
        pieces=tuple(piece for part in found for piece in part.pieces),
        ids=np.concatenate([part.ids for part in found]),
        segments=np.concatenate([part.segments for part in found]),
        parts=np.concatenate([part.parts for part in found]),
        words=np.concatenate([part.words for part in found]),
        offsets=np.concatenate([part.offsets for part in found]),
    )


def _taken(
    part: Tokenized, own: slice | npt.NDArray[np.int64], start: int, words: int
) -> Tokenized:
    """Some pieces, their places and words counted from the beginning of the text."""
    special, numbers = part.special[own], part.words[own]
    return Tokenized(
        text="",
        pieces=tuple(np.array(part.pieces, object)[own]),
        ids=part.ids[own],
        segments=part.segments[own],
        parts=part.parts[own],
        words=np.where(numbers == SPECIAL, SPECIAL, numbers + words).astype(np.int32),
        offsets=np.where(special[:, np.newaxis], 0, part.offsets[own] + start).astype(np.int32),
    )
