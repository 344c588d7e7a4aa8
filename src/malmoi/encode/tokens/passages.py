"""Long texts as passages that a model can read whole: where each begins and ends.

A passage ends where a paragraph does, or else a sentence, a word; the next begins a little before
that, where a sentence does, so that what is said across a border is found too. Knows nothing of
models: pieces are given as the places where they begin and end.
"""

import re
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import IntegerArray

Span = tuple[int, int]

SHARED = 8  # of a passage, one part in so many may be that of the one before
BORDERS = tuple(
    re.compile(border)
    for border in (
        r"\n[^\S\n]*\n\s*",  # of paragraphs
        r"(?<=[.!?…])\s+|(?<=[.!?…][\"'”’)\]])\s+|(?<=[。！？])\s*|\n\s*",  # of sentences
        r"\s+",
    )
)


@dataclass(frozen=True, eq=False)
class PassageBounds:
    """Where paragraphs, sentences and words of a text end and the next ones begin, ascending."""

    stops: tuple[IntegerArray, ...]
    starts: tuple[IntegerArray, ...]


def find_borders(text: str) -> PassageBounds:
    """All borders of a text, coarse ones first."""
    found = [[match.span() for match in border.finditer(text)] for border in BORDERS]
    each = [np.array(spans, np.int64).reshape(-1, 2) for spans in found]
    return PassageBounds(tuple(it[:, 0] for it in each), tuple(it[:, 1] for it in each))


def split_text(text: str, pieces: IntegerArray, room: int) -> list[Span]:
    """Passages of at most `room` pieces; the whole text where it has no more."""
    if len(pieces) <= room:
        return [(0, len(text))]
    borders, spans, first = find_borders(text), list[Span](), 0
    while len(pieces) - first > room:
        last = _stop(borders, pieces, first, room)
        spans.append((int(pieces[first, 0]), int(pieces[last - 1, 1])))
        first = _start(borders, pieces, max(first + 1, last - room // SHARED), last)
    # The last one reaches back, so that it is no shorter than half of the others.
    first = min(first, _start(borders, pieces, len(pieces) - room // 2, len(pieces) - 1))
    spans.append((int(pieces[first, 0]), int(pieces[-1, 1])))
    return spans


def _stop(borders: PassageBounds, pieces: IntegerArray, first: int, room: int) -> int:
    """The piece before which a passage that begins at `first` ends: at the last coarse border."""
    least, most = pieces[first + room // 2 - 1, 1], pieces[first + room, 0]
    for stops in borders.stops:
        before = int(np.searchsorted(stops, most, "right")) - 1
        if before >= 0 and stops[before] >= least:
            last = int(np.searchsorted(pieces[:, 0], stops[before]))
            if first < last <= first + room:
                return last
    return first + room


def _start(borders: PassageBounds, pieces: IntegerArray, earliest: int, last: int) -> int:
    """The first piece from `earliest` on that begins a paragraph, a sentence or a word."""
    for starts in borders.starts:
        after = int(np.searchsorted(starts, pieces[earliest, 0]))
        if after < len(starts):
            first = int(np.searchsorted(pieces[:, 0], starts[after]))
            if first <= last:
                return first
    return earliest
