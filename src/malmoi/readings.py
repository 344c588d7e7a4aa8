"""Readings: the known words that may have been meant by one that is not known, and how surely.

A noisy channel: the share of a word is as its count times the chance of the slip that makes of it
what is seen. The rest is the share of a new word, which is not a slip at all: an inflected form, a
compound, a name. Such words are made of familiar pieces, and slips are not.
"""

import unicodedata
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.slips import meant_by
from malmoi.vectors import Vectors

# Chosen on words left out of a training text and on random slips; `bench slips` measures both.
NEW = 30.0  # a new word weighs as much as one seen so many times as often as the rarest
UNFAMILIAR = 5  # and less with n-grams that no known word has: by this power of one more


class Reading(NamedTuple):
    """A known word and how likely it was meant, from 0 to 1."""

    word: str
    share: float


def readings(vectors: Vectors, seen: str, unfamiliar: int) -> list[Reading]:
    """Known words one slip away, likeliest first; what their shares lack of 1 is a new word's.

    `unfamiliar` is how many n-grams of the word seen are of no known word.
    """
    chances = meant_by(unicodedata.normalize("NFC", seen))
    rows = vectors.keys.find_all(chances)
    known = np.flatnonzero(rows >= 0)
    weights = np.fromiter(chances.values(), float, len(chances))[known]
    weights *= frequencies(vectors, rows[known])
    shares = weights / (weights.sum() + NEW / (1 + unfamiliar) ** UNFAMILIAR)
    order = np.argsort(-shares, kind="stable")
    return [Reading(vectors.keys[int(rows[known[i]])], float(shares[i])) for i in order]


def frequencies(vectors: Vectors, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """How many times as often as the rarest word those of these rows were seen.

    Where nobody counted, by Zipf's law: the word of rank r is seen as often as 1 / r.
    """
    if vectors.counts is None:
        return len(vectors) / (rows + 1)
    rarest = max(1, int(vectors.counts.min()))
    return np.divide(vectors.counts[rows], rarest, dtype=np.float64)
