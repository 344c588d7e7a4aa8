"""Readings: the known words that may have been meant by one that is not known, and how surely.

A noisy channel: a word is meant as likely as its share of the text times the chance of the slip
that makes of it what is seen. Or what is seen is no slip but a new word: an inflected form, a
compound, a name. That is as likely as new words are, times the chance that one is spelt so.
"""

import unicodedata
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.slips import meant_by
from malmoi.spelling import Spelling
from malmoi.vectors import Vectors

NEW = 0.3  # of the words in questions, those that are new; `bench slips` shows what it does


class Reading(NamedTuple):
    """A known word and how likely it was meant, from 0 to 1."""

    word: str
    share: float


def readings(vectors: Vectors, seen: str, spelling: Spelling) -> list[Reading]:
    """Known words one slip away, likeliest first; what their shares lack of 1 is a new word's."""
    seen = unicodedata.normalize("NFC", seen)
    chances = meant_by(seen)
    rows = vectors.keys.find_all(chances)
    known = np.flatnonzero(rows >= 0)
    weights = np.fromiter(chances.values(), float, len(chances))[known]
    weights *= frequencies(vectors, rows[known])
    total = weights.sum() + NEW * spelling.chance(seen)
    if not weights.any():
        return []
    shares = weights / total
    order = np.argsort(-shares, kind="stable")
    return [Reading(vectors.keys[int(rows[known[i]])], float(shares[i])) for i in order]


def frequencies(vectors: Vectors, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """How large a share of the text the words of these rows have.

    Where nobody counted, by Zipf's law: the word of rank r is seen as often as 1 / r.
    """
    if vectors.counts is None:
        by_rank: npt.NDArray[np.float64] = 1 / ((rows + 1) * (1 + np.log(max(1, len(vectors)))))
        return by_rank
    return np.divide(vectors.counts[rows], max(1, int(vectors.counts.sum())), dtype=np.float64)
