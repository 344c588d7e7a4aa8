"""Noisy channel: rank the known words that an unknown word may be a typo of.

The weight of a candidate is its prior, which grows with its share of the text, times the
probability of the edit. The alternative is a new word: an inflected form, a compound, a name. Its
weight grows with the share of rare words in the text (Good and Turing), with the probability of its
spelling, with productive endings that it has or takes, and for short words.
"""

import math
import unicodedata
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.typos.char_lm import SpellingModel, learn_spelling
from malmoi.typos.edits import corrections, keystrokes
from malmoi.vectors import Vectors

# Fitted with the halves of `bench typos` exchanged, on typos of other words by the same generator,
# and on a fifth of codespell's misspellings, some of which `bench slips` uses too.
NEW_WORD_PRIOR = 0.024  # of a new word against a typo; more corrects less
SPELLING_TEMPERATURE = 1.6  # letters are not independent evidence
HANGUL_FACTOR = 1.4  # most sequences of syllables could be a word
SHORT_KEYSTROKES = 7  # shorter words are often names and abbreviations …
SHORTNESS_WEIGHT = 0.38  # … by exp(SHORTNESS_WEIGHT * missing ** 2)
KNOWN_STEM_WEIGHT = 3.0  # exp(weight * the ending's share), for a known stem and ending …
KNOWN_FORM_WEIGHT = 4.0  # … and for a word whose forms with endings are known
FREQUENCY_EXPONENT = 0.8  # queries are more even than text
RARE_BELOW = 28e-6  # share of the text: below, times (share / RARE_BELOW) ** RARE_EXPONENT
RARE_EXPONENT = 2.3


class Correction(NamedTuple):
    """A known word and its probability of being intended, from 0 to 1."""

    word: str
    share: float


class NewWords(NamedTuple):
    """The prior of new words."""

    spelling: SpellingModel
    share: float  # of new words in the text, estimated from rare words

    def weight(self, vectors: Vectors, typed: str) -> float:
        """The weight of a new word, on the scale of frequencies times probabilities of edits."""
        keys = keystrokes(typed)
        missing = max(0, SHORT_KEYSTROKES - len(keys))
        weight = NEW_WORD_PRIOR * self.share * math.exp(SHORTNESS_WEIGHT * missing**2)
        weight *= HANGUL_FACTOR if keys != typed else 1
        endings = self.spelling.endings
        stems = self.spelling.stems(typed)
        of_parts = max((share for stem, share in stems if vectors.row(stem) >= 0), default=0.0)
        forms = vectors.keys.find_all(typed + ending for ending in endings) >= 0
        as_stem = np.fromiter(endings.values(), float, len(endings)).max(initial=0.0, where=forms)
        weight *= math.exp(KNOWN_STEM_WEIGHT * of_parts + KNOWN_FORM_WEIGHT * as_stem)
        return float(weight * self.spelling.probability(typed) ** (1 / SPELLING_TEMPERATURE))


def learn_new_words(vectors: Vectors) -> NewWords:
    """Estimate the prior of new words from the known words.

    The share of words too rare to be known is estimated, up to a factor, by that of the words seen
    less than twice as often as the rarest.
    """
    shares = frequencies(vectors, np.arange(len(vectors)))
    rare = shares[shares < 2 * shares.min(initial=1)].sum()
    return NewWords(learn_spelling(vectors.keys), float(rare))


def rank_corrections(vectors: Vectors, typed: str, new: NewWords) -> list[Correction]:
    """Known words one edit away, most probable first; a new word has the rest of 1."""
    typed = unicodedata.normalize("NFC", typed)
    probabilities = corrections(typed)
    rows = vectors.keys.find_all(probabilities)
    known = np.flatnonzero(rows >= 0)
    weights = np.fromiter(probabilities.values(), float, len(probabilities))[known]
    shares = frequencies(vectors, rows[known])
    weights *= shares**FREQUENCY_EXPONENT * np.minimum(1, shares / RARE_BELOW) ** RARE_EXPONENT
    if not weights.any():
        return []
    shares = weights / (weights.sum() + new.weight(vectors, typed))
    order = np.argsort(-shares, kind="stable")
    return [Correction(vectors.keys[int(rows[known[i]])], float(shares[i])) for i in order]


def frequencies(vectors: Vectors, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The share of the text of the words of these rows.

    Without counts, by Zipf's law: the word of rank r occurs in proportion to 1 / r.
    """
    if vectors.counts is None:
        by_rank: npt.NDArray[np.float64] = 1 / ((rows + 1) * (1 + np.log(max(1, len(vectors)))))
        return by_rank
    return np.divide(vectors.counts[rows], max(1, int(vectors.counts.sum())), dtype=np.float64)
