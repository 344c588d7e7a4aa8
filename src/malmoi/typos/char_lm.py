"""Spelling: what words look like, and so how likely a new word is.

Two n-gram models, of keystrokes and (for Hangul) of syllables, and the endings that words take.
The models are smoothed as by Witten and Bell (1991): the more different strokes have followed a
context, the more is left to the context that is one stroke shorter.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Int64Array
from malmoi.typos.edits import strokes

ORDER = 5  # strokes that are looked at together
SYLLABLE_ORDER = 2  # and syllables
BITS = 12  # of a number for each of them
MOST = 1 << BITS  # different strokes; the rarest of more than that count as one
SAMPLE = 50_000  # words: more would take longer and say the same
EDGE = "\n"  # before and after a word
LONGEST_ENDING = 4  # characters
PRODUCTIVE = 20  # words of the sample that an ending makes of other words


class ContextCounts(NamedTuple):
    """Contexts of one length: how often each stroke followed them, and how many different ones."""

    grams: Int64Array  # ascending; a context and the stroke that followed it
    counts: Int64Array
    contexts: Int64Array  # ascending
    totals: Int64Array
    kinds: Int64Array


class CharNgramModel(NamedTuple):
    """How likely a word is, stroke by stroke or character by character."""

    letters: Int64Array  # ascending code points of known strokes
    levels: tuple[ContextCounts, ...]  # of contexts of 0 strokes, 1, …
    by_strokes: bool = True  # or by characters

    def chance(self, word: str) -> float:
        """How likely this word is among all that could be written."""
        points, follows = as_points([word], len(self.levels), self.by_strokes)
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


class SpellingModel(NamedTuple):
    """What words look like."""

    by_strokes: CharNgramModel
    by_syllables: CharNgramModel
    endings: dict[str, float]  # -ed, 에서; of words that end so, the share that has a known stem

    def chance(self, word: str) -> float:
        """How likely this word is: with Hangul, the geometric mean of both models."""
        chance = self.by_strokes.chance(word)
        if strokes(word) == word:
            return chance
        return math.sqrt(chance * self.by_syllables.chance(word))

    def stems(self, word: str) -> Iterator[tuple[str, float]]:
        """What is left of a word without one of the endings, and that ending's share of stems."""
        for length in range(1, min(LONGEST_ENDING, len(word) - 1) + 1):
            if word[-length:] in self.endings:
                yield word[:-length], self.endings[word[-length:]]


def learn_spelling(words: Sequence[str]) -> SpellingModel:
    """The spelling of a language, from words of it, evenly chosen where they are very many."""
    every = -(-max(1, len(words)) // SAMPLE)
    sample = [words[i] for i in range(0, len(words), every)]
    return SpellingModel(
        learn_ngrams(sample, ORDER),
        learn_ngrams(sample, SYLLABLE_ORDER, by_strokes=False),
        learn_endings(list(words[:SAMPLE])),  # the most frequent: their stems are among them
    )


def learn_ngrams(words: Sequence[str], order: int, *, by_strokes: bool = True) -> CharNgramModel:
    """A model of these words that looks at so many strokes together."""
    points, follows = as_points(words, order, by_strokes)
    letters, counts = np.unique(points, return_counts=True)
    letters = np.sort(letters[np.argsort(-counts, kind="stable")[: MOST - 1]])
    codes = as_codes(points, letters)
    grams = (grams_of(codes, length)[follows] for length in range(order))
    return CharNgramModel(letters, tuple(map(counted, grams)), by_strokes)


def learn_endings(words: Sequence[str]) -> dict[str, float]:
    """The endings of many of these words; of the words that end so, how many have a known stem."""
    known = set(words)
    having, made = Counter[str](), Counter[str]()
    for length in range(1, LONGEST_ENDING + 1):
        longer = [word for word in words if len(word) > length]
        having.update(word[-length:] for word in longer)
        made.update(word[-length:] for word in longer if word[:-length] in known)
    return {ending: n / having[ending] for ending, n in made.items() if n >= PRODUCTIVE}


def as_points(
    words: Sequence[str], order: int, by_strokes: bool
) -> tuple[Int64Array, npt.NDArray[np.bool_]]:
    """The code points of all strokes, edges between words; which of them follow something."""
    between = EDGE * max(1, order - 1)
    text = between + between.join(words) + between
    text = strokes(text) if by_strokes else text
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int64)
    is_edge = points == ord(EDGE)
    follows = ~is_edge
    follows[1:] |= is_edge[1:] & ~is_edge[:-1]  # a word's end is foretold too, not the padding
    return points, follows


def as_codes(points: Int64Array, letters: Int64Array) -> Int64Array:
    """Strokes as numbers from 1 on; 0 is an unknown one."""
    return looked_up(points, letters, np.arange(1, len(letters) + 1))


def grams_of(codes: Int64Array, length: int) -> Int64Array:
    """Each stroke with so many before it, in one number."""
    grams = codes.copy()
    for back in range(1, length + 1):
        grams[back:] |= codes[:-back] << (BITS * back)
    return grams


def counted(grams: Int64Array) -> ContextCounts:
    """What followed each context, from what was seen."""
    seen, counts = np.unique(grams, return_counts=True)
    contexts, starts, kinds = np.unique(seen >> BITS, return_index=True, return_counts=True)
    totals = np.add.reduceat(counts, starts) if len(starts) else counts
    return ContextCounts(seen, counts, contexts, totals, kinds)


def looked_up(wanted: Int64Array, keys: Int64Array, values: Int64Array) -> Int64Array:
    """The values of keys; 0 where there is none."""
    if not len(keys):
        return np.zeros_like(wanted)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], 0)
