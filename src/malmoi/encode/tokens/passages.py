"""Splits long texts into passages that a model can read whole.

A passage ends at the end of a paragraph, or else of a sentence or a word; the next one begins a
little earlier, at the start of a sentence, so that content across a border is found too. Knows
nothing of models: tokens are given by their offsets.
"""

import re
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import IntegerArray

Span = tuple[int, int]

MAX_OVERLAP = 8  # at most one part in this many of a passage overlaps the one before
BORDERS = tuple(
    re.compile(border)
    for border in (
        r"\n[^\S\n]*\n\s*",  # of paragraphs
        r"(?<=[.!?…])\s+|(?<=[.!?…][\"'”’)\]])\s+|(?<=[。！？])\s*|\n\s*",  # of sentences
        r"\s+",  # of words
    )
)


@dataclass(frozen=True, eq=False)
class PassageBounds:
    """Where paragraphs, sentences and words of a text end and the next ones begin, ascending."""

    stops: tuple[IntegerArray, ...]
    starts: tuple[IntegerArray, ...]


def find_borders(text: str) -> PassageBounds:
    """All borders of a text, coarse ones first."""
    matches = [[match.span() for match in border.finditer(text)] for border in BORDERS]
    each = [np.array(spans, np.int64).reshape(-1, 2) for spans in matches]
    return PassageBounds(tuple(it[:, 0] for it in each), tuple(it[:, 1] for it in each))


def split_text(text: str, offsets: IntegerArray, max_tokens: int) -> list[Span]:
    """Passages of at most `max_tokens` tokens; `offsets` [tokens, 2] are those of the tokens."""
    if len(offsets) <= max_tokens:
        return [(0, len(text))]
    borders, spans, first = find_borders(text), list[Span](), 0
    while len(offsets) - first > max_tokens:
        last = _stop(borders, offsets, first, max_tokens)
        spans.append((int(offsets[first, 0]), int(offsets[last - 1, 1])))
        earliest = max(first + 1, last - max_tokens // MAX_OVERLAP)
        first = _start(borders, offsets, earliest, last)
    # The last passage reaches back, so that it is at least half as long as the others.
    first = min(first, _start(borders, offsets, len(offsets) - max_tokens // 2, len(offsets) - 1))
    spans.append((int(offsets[first, 0]), int(offsets[-1, 1])))
    return spans


def _stop(borders: PassageBounds, offsets: IntegerArray, first: int, max_tokens: int) -> int:
    """The token after a passage that begins at `first`: at the last coarse border."""
    earliest, latest = offsets[first + max_tokens // 2 - 1, 1], offsets[first + max_tokens, 0]
    for stops in borders.stops:
        before = int(np.searchsorted(stops, latest, "right")) - 1
        if before >= 0 and stops[before] >= earliest:
            last = int(np.searchsorted(offsets[:, 0], stops[before]))
            if first < last <= first + max_tokens:
                return last
    return first + max_tokens


def _start(borders: PassageBounds, offsets: IntegerArray, earliest: int, last: int) -> int:
    """The first token from `earliest` on that begins a paragraph, a sentence or a word."""
    for starts in borders.starts:
        after = int(np.searchsorted(starts, offsets[earliest, 0]))
        if after < len(starts):
            first = int(np.searchsorted(offsets[:, 0], starts[after]))
            if first <= last:
                return first
    return earliest
