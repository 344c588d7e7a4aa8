"""Words of a test looked up in vectors: in any case if asked, by n-grams where vectors can.

Case is folded as in gensim: words are compared in capitals, and the first row (the most
frequent word) of those that become the same answers for them.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import BoolArray, Float64Array
from malmoi.errors import UnknownWordError
from malmoi.keys import Keys, is_encodable
from malmoi.vectors import Vectors, l2_normalize

CASE_TOLD_BY = 10_000  # the first words of a vocabulary show whether it has capitals


def form(word: str, fold_case: bool) -> str:
    """A word as it is compared."""
    word = unicodedata.normalize("NFC", word)
    return word.upper() if fold_case else word


def restricted(vectors: Vectors, most_frequent: int | None) -> Vectors:
    """The words to look through."""
    return vectors if most_frequent is None else vectors.most_frequent(most_frequent)


def rows_by_form(keys: Keys, words: Iterable[str], fold_case: bool) -> dict[str, list[int]]:
    """For the form of each word the rows that have it, first to last; [] if none has."""
    rows: dict[str, list[int]] = {form(word, fold_case): [] for word in words}
    for row, key in enumerate(keys):
        found = rows.get(form(key, fold_case))
        if found is not None:
            found.append(row)
    return rows


@dataclass(frozen=True)
class Answers:
    """For each word of a list its unit vector [words, dim] and where that comes from.

    A word without a vector, or with one that points nowhere (zero or not finite), has zeros.
    """

    directions: Float64Array
    has_row: BoolArray
    is_known: BoolArray

    @property
    def is_built(self) -> BoolArray:
        """Whether a word was built from its n-grams."""
        return self.is_known & ~self.has_row


def answer(vectors: Vectors, words: list[str], *, fold_case: bool = True) -> Answers:
    """Look up words; those without a row are built from n-grams where the vectors can."""
    rows = rows_by_form(vectors.keys, words, fold_case)
    found = np.zeros((len(words), vectors.dim))
    has_row = np.zeros(len(words), dtype=np.bool_)
    # A capital letter is in no n-gram of a model that was trained on small ones.
    lowered = fold_case and all(key == key.lower() for key in vectors.keys[:CASE_TOLD_BY])
    for i, word in enumerate(words):
        own = rows[form(word, fold_case)]
        has_row[i] = bool(own)
        if own:
            found[i] = vectors.matrix[own[0]]
        elif is_encodable(word):
            try:
                found[i] = vectors.meant(word.lower() if lowered else word)
            except UnknownWordError:
                continue
    found[~np.isfinite(found).all(axis=1)] = 0
    is_known = np.any(found, axis=1)
    return Answers(l2_normalize(found), has_row & is_known, is_known)
