"""Readings: the known words that may have been meant by one that is not known, and how surely.

A noisy channel: the prior of a word, which grows with its share of the text, times the chance of
the slip that makes of it what is seen. Or what is seen is no slip but a new word: an inflected
form, a compound, a name. That is the more likely the more of the text rare words are (Good and
Turing), the more its spelling is that of other words, the shorter it is, and the more productive
an ending it takes or has.
"""

import math
import unicodedata
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.typos.char_lm import SpellingModel, learn_spelling
from malmoi.typos.edits import meant_by, strokes
from malmoi.vectors import Vectors

# Fitted with the halves of `bench typos` exchanged, on typos of other words by the same generator,
# and on a fifth of codespell's misspellings, some of which `bench slips` asks for too.
NEW = 0.024  # how likely a new word is, beside a slip; more corrects less
TEMPERATURE = 1.6  # of the spelling: letters that follow one another are no independent evidence
HANGUL = 1.4  # times as likely if in Hangul, where most syllables together could be a word
SHORT = 7  # strokes: shorter words than that are often names and abbreviations …
SHORTNESS = 0.38  # … by exp(SHORTNESS * missing ** 2)
OF_PARTS = 3.0  # a known stem with an ending is likelier, by exp(OF_PARTS * the ending's share) …
AS_STEM = 4.0  # … and so is what stands with an ending among the known words
EVENNESS = 0.8  # words are asked for more evenly than they are written: by share ** EVENNESS
FREQUENT = 28e-6  # of the text: rarer words are less likely meant, by (share / FREQUENT) ** RARITY
RARITY = 2.3


class Correction(NamedTuple):
    """A known word and how likely it was meant, from 0 to 1."""

    word: str
    share: float


class NewWords(NamedTuple):
    """What is known of new words before one is seen."""

    spelling: SpellingModel
    share: float  # of the text, as far as rare words tell

    def weight(self, vectors: Vectors, seen: str) -> float:
        """How likely this is a new word, on the scale of frequencies times chances of slips."""
        keys = strokes(seen)
        missing = max(0, SHORT - len(keys))
        weight = NEW * self.share * math.exp(SHORTNESS * missing**2)
        weight *= HANGUL if keys != seen else 1
        endings = self.spelling.endings
        stems = self.spelling.stems(seen)
        of_parts = max((share for stem, share in stems if vectors.row(stem) >= 0), default=0.0)
        forms = vectors.keys.find_all(seen + ending for ending in endings) >= 0
        as_stem = np.fromiter(endings.values(), float, len(endings)).max(initial=0.0, where=forms)
        weight *= math.exp(OF_PARTS * of_parts + AS_STEM * as_stem)
        return float(weight * self.spelling.chance(seen) ** (1 / TEMPERATURE))


def learn_new_words(vectors: Vectors) -> NewWords:
    """What the known words tell of new ones.

    Words that were not seen often enough to be known are as common as those that just were, up
    to a factor: those seen less than twice as often as the rarest.
    """
    shares = frequencies(vectors, np.arange(len(vectors)))
    rare = shares[shares < 2 * shares.min(initial=1)].sum()
    return NewWords(learn_spelling(vectors.keys), float(rare))


def readings(vectors: Vectors, seen: str, new: NewWords) -> list[Correction]:
    """Known words one slip away, likeliest first; what their shares lack of 1 is a new word's."""
    seen = unicodedata.normalize("NFC", seen)
    chances = meant_by(seen)
    rows = vectors.keys.find_all(chances)
    known = np.flatnonzero(rows >= 0)
    weights = np.fromiter(chances.values(), float, len(chances))[known]
    shares = frequencies(vectors, rows[known])
    weights *= shares**EVENNESS * np.minimum(1, shares / FREQUENT) ** RARITY
    if not weights.any():
        return []
    shares = weights / (weights.sum() + new.weight(vectors, seen))
    order = np.argsort(-shares, kind="stable")
    return [Correction(vectors.keys[int(rows[known[i]])], float(shares[i])) for i in order]


def frequencies(vectors: Vectors, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """How large a share of the text the words of these rows have.

    Where nobody counted, by Zipf's law: the word of rank r is seen as often as 1 / r.
    """
    if vectors.counts is None:
        by_rank: npt.NDArray[np.float64] = 1 / ((rows + 1) * (1 + np.log(max(1, len(vectors)))))
        return by_rank
    return np.divide(vectors.counts[rows], max(1, int(vectors.counts.sum())), dtype=np.float64)
