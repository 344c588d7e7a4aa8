"""Lookup of the words of a test set, optionally with folded case, by n-grams where possible.

Case is folded as in gensim: words are compared in upper case, and the first row (the most
frequent word) answers for all words that become the same.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import BoolArray, Float64Array
from malmoi.errors import UnknownWordError
from malmoi.keys import Keys, is_encodable
from malmoi.vectors import Vectors, l2_normalize

CASE_SAMPLE_WORDS = 10_000  # the first words of a vocabulary show whether it has capitals


def fold_word(word: str, fold_case: bool) -> str:
    """A word in NFC, and in upper case with `fold_case`."""
    word = unicodedata.normalize("NFC", word)
    return word.upper() if fold_case else word


def rows_by_folded_word(keys: Keys, words: Iterable[str], fold_case: bool) -> dict[str, list[int]]:
    """The rows of each folded word in ascending order; [] for a word without one."""
    rows: dict[str, list[int]] = {fold_word(word, fold_case): [] for word in words}
    for row, key in enumerate(keys):
        same = rows.get(fold_word(key, fold_case))
        if same is not None:
            same.append(row)
    return rows


@dataclass(frozen=True)
class WordLookup:
    """The unit vector of each word [words, dim], and where it comes from.

    A word without a vector, or whose vector is zero or not finite, has zeros.
    """

    directions: Float64Array
    has_row: BoolArray
    is_known: BoolArray

    @property
    def is_built(self) -> BoolArray:
        """Whether the vector of each word was built from n-grams."""
        return self.is_known & ~self.has_row


def look_up_words(vectors: Vectors, words: list[str], *, fold_case: bool = True) -> WordLookup:
    """Look up words; those without a row are built from n-grams where possible."""
    rows = rows_by_folded_word(vectors.keys, words, fold_case)
    matrix = np.zeros((len(words), vectors.dim))
    has_row = np.zeros(len(words), dtype=np.bool_)
    # The n-grams of a model that was trained on lower case contain no capital letter.
    lowered = fold_case and all(key == key.lower() for key in vectors.keys[:CASE_SAMPLE_WORDS])
    for i, word in enumerate(words):
        own = rows[fold_word(word, fold_case)]
        has_row[i] = bool(own)
        if own:
            matrix[i] = vectors.matrix[own[0]]
        elif is_encodable(word):
            try:
                matrix[i] = vectors.query_vector(word.lower() if lowered else word)
            except UnknownWordError:
                continue
    matrix[~np.isfinite(matrix).all(axis=1)] = 0
    is_known = np.any(matrix, axis=1)
    return WordLookup(l2_normalize(matrix), has_row & is_known, is_known)
