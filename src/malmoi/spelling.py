"""Spelling: how strokes follow one another in known words, and so how likely a new word is.

An n-gram model of keystrokes, smoothed as by Witten and Bell (1991): the more different strokes
have followed a context, the more is left to the context that is one stroke shorter.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.slips import strokes

Codes = npt.NDArray[np.int64]  # strokes, or several of them in one number, the last one lowest

ORDER = 5  # strokes that are looked at together
BITS = 12  # of a number for each of them
MOST = 1 << BITS  # different strokes; the rarest of more than that count as one
SAMPLE = 50_000  # words: more would take longer and say the same
EDGE = "\n"  # before and after a word


class Level(NamedTuple):
    """Contexts of one length: how often each stroke followed them, and how many different ones."""

    grams: Codes  # ascending; a context and the stroke that followed it
    counts: Codes
    contexts: Codes  # ascending
    totals: Codes
    kinds: Codes


class Spelling(NamedTuple):
    """What words look like."""

    letters: Codes  # ascending code points of known strokes
    levels: tuple[Level, ...]  # of contexts of 0 strokes, 1, …

    def chance(self, word: str) -> float:
        """How likely this word is among all that could be written."""
        points, follows = as_points([word])
        codes = as_codes(points, self.letters)
        found = np.full(int(follows.sum()), 1 / (len(self.letters) + 1))
        for length, level in enumerate(self.levels):
            grams = grams_of(codes, length)[follows]
            contexts = grams >> BITS
            counts = looked_up(grams, level.grams, level.counts)
            totals = looked_up(contexts, level.contexts, level.totals)
            kinds = looked_up(contexts, level.contexts, level.kinds)
            known = totals > 0
            mixed = counts + kinds * found
            found[known] = mixed[known] / (totals + kinds)[known]
        return float(np.prod(found))


def learn_spelling(words: Sequence[str]) -> Spelling:
    """The spelling of a language, from words of it, evenly chosen where they are very many."""
    every = -(-max(1, len(words)) // SAMPLE)
    points, follows = as_points([words[i] for i in range(0, len(words), every)])
    letters, counts = np.unique(points, return_counts=True)
    letters = np.sort(letters[np.argsort(-counts, kind="stable")[: MOST - 1]])
    codes = as_codes(points, letters)
    grams = (grams_of(codes, length)[follows] for length in range(ORDER))
    return Spelling(letters, tuple(map(counted, grams)))


def as_points(words: Sequence[str]) -> tuple[Codes, npt.NDArray[np.bool_]]:
    """The code points of all strokes, edges between words; which of them follow something."""
    between = EDGE * (ORDER - 1)
    text = between + strokes(between.join(words)) + between
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int64)
    is_edge = points == ord(EDGE)
    follows = ~is_edge
    follows[1:] |= is_edge[1:] & ~is_edge[:-1]  # a word's end is foretold too, not the padding
    return points, follows


def as_codes(points: Codes, letters: Codes) -> Codes:
    """Strokes as numbers from 1 on; 0 is an unknown one."""
    return looked_up(points, letters, np.arange(1, len(letters) + 1))


def grams_of(codes: Codes, length: int) -> Codes:
    """Each stroke with so many before it, in one number."""
    grams = codes.copy()
    for back in range(1, length + 1):
        grams[back:] |= codes[:-back] << (BITS * back)
    return grams


def counted(grams: Codes) -> Level:
    """What followed each context, from what was seen."""
    seen, counts = np.unique(grams, return_counts=True)
    contexts, starts, kinds = np.unique(seen >> BITS, return_index=True, return_counts=True)
    totals = np.add.reduceat(counts, starts) if len(starts) else counts
    return Level(seen, counts, contexts, totals, kinds)


def looked_up(wanted: Codes, keys: Codes, values: Codes) -> Codes:
    """The values of keys; 0 where there is none."""
    if not len(keys):
        return np.zeros_like(wanted)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], 0)
