"""Words spelled nearly like one that is not there; Hangul by its letters (jamo).

Candidates are found by the set of letters that occur in them, for all words at once; the
edit distance is then taken over letters, a syllable being two or three (그림 and 그린 differ
by one letter, not by one syllable of two).
"""

import unicodedata

import numpy as np

from malmoi.keys import Keys

LOOKED_THROUGH = 200_000  # the most frequent words
CANDIDATES = 400


def near_spellings(keys: Keys, word: str, count: int = 3) -> list[str]:
    """The nearest spellings, nearest and most frequent first; none if all are far."""
    letters = spelled(word)
    farthest = max(1, len(letters) // 3)
    scored = []
    for row in _candidates(keys[:LOOKED_THROUGH], word):
        distance = edit_distance(letters, spelled(keys[row]), farthest)
        if distance <= farthest:
            scored.append((distance, row))
    return [keys[row] for _, row in sorted(scored)[:count]]


def spelled(word: str) -> str:
    """A word by its letters: lower case, Hangul taken apart, accents beside their letters."""
    return unicodedata.normalize("NFD", word.lower())


def edit_distance(one: str, other: str, most: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours; `most + 1` if there are more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(last[j] + 1, row[-1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and b == one[i - 2]:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return last[-1]


def _candidates(keys: Keys, word: str) -> list[int]:
    """Rows whose bytes differ least from the word's, as sets."""
    asked = Keys.of([unicodedata.normalize("NFC", word)])
    lengths = np.abs(np.diff(keys.offsets) - len(asked.packed))
    wanted = _letter_sets(asked)[0]
    differing = np.bitwise_count(_letter_sets(keys) ^ wanted) + lengths
    nearest = np.argsort(differing, kind="stable")[:CANDIDATES]
    return [int(row) for row in nearest]


def _letter_sets(keys: Keys) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    """For each key one bit for every byte (modulo 64) that occurs in it."""
    bits = np.zeros(len(keys.packed) + 1, dtype=np.uint64)
    np.left_shift(np.uint64(1), keys.packed & 63, out=bits[:-1], dtype=np.uint64)
    sets = np.bitwise_or.reduceat(bits, keys.offsets[:-1])
    sets[np.diff(keys.offsets) == 0] = 0
    return sets
