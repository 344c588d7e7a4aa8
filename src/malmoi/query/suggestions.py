"""Spelling suggestions for a word that has no row; Hangul is compared by jamo.

Candidates are selected by the set of letters in them, for all words at once, then ranked by edit
distance. A syllable is two or three jamo, so that 그림 and 그린 differ by one letter of five, not
by one syllable of two.
"""

import unicodedata

import numpy as np

from malmoi.keys import Keys

SEARCHED_WORDS = 200_000  # the most frequent ones
MAX_CANDIDATES = 400  # words whose edit distance is computed


def near_spellings(keys: Keys, word: str, count: int = 3) -> list[str]:
    """Words within a third of the letters, nearest and most frequent first."""
    letters = spelled(word)
    max_distance = max(1, len(letters) // 3)
    scored = []
    for row in _candidates(keys[:SEARCHED_WORDS], word):
        distance = edit_distance(letters, spelled(keys[row]), max_distance)
        if distance <= max_distance:
            scored.append((distance, row))
    return [keys[row] for _, row in sorted(scored)[:count]]


def spelled(word: str) -> str:
    """The letters of a word in NFD: lower case, Hangul as jamo, accents apart."""
    return unicodedata.normalize("NFD", word.lower())


def edit_distance(one: str, other: str, max_distance: int) -> int:
    """Insertions, deletions, substitutions and transpositions, at most `max_distance + 1`."""
    if abs(len(one) - len(other)) > max_distance:
        return max_distance + 1
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(last[j] + 1, row[-1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and b == one[i - 2]:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > max_distance:
            return max_distance + 1
        before, last = last, row
    return last[-1]


def _candidates(keys: Keys, word: str) -> list[int]:
    """Rows whose bytes, as sets, differ least from those of the word."""
    query = Keys.of([unicodedata.normalize("NFC", word)])
    lengths = np.abs(np.diff(keys.offsets) - len(query.packed))
    differing = np.bitwise_count(_letter_sets(keys) ^ _letter_sets(query)[0]) + lengths
    nearest = np.argsort(differing, kind="stable")[:MAX_CANDIDATES]
    return [int(row) for row in nearest]


def _letter_sets(keys: Keys) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    """A bit set of the bytes (modulo 64) of each key."""
    bits = np.zeros(len(keys.packed) + 1, dtype=np.uint64)
    np.left_shift(np.uint64(1), keys.packed & 63, out=bits[:-1], dtype=np.uint64)
    sets = np.bitwise_or.reduceat(bits, keys.offsets[:-1])
    sets[np.diff(keys.offsets) == 0] = 0
    return sets
