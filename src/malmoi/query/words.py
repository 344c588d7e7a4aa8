"""From what a user asks with, a word or a vector, to directions in the space."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from malmoi.errors import BadSetting, UnknownWord
from malmoi.query.spelling import near_spellings
from malmoi.vectors import Matrix, Vectors


def check_count(k: int) -> None:
    """How many answers are asked for."""
    if k < 1:
        raise BadSetting(f"k is {k}: at least one answer must be asked for")


def vector_of(vectors: Vectors, word: str) -> Matrix:
    """The vector of what is meant by a word; unknown ones are told with near spellings."""
    try:
        return vectors.meant(word)
    except UnknownWord:
        raise UnknownWord(word, near_spellings(vectors.keys, word)) from None


def direction_of(vectors: Vectors, asked: str | npt.ArrayLike) -> Matrix:
    """The vector that a question means, which must point somewhere."""
    if isinstance(asked, str):
        vector = vector_of(vectors, asked)
        if not np.any(vector):
            raise BadSetting(f"the vector of '{asked}' is all zeros, so nothing is near to it")
        if not np.isfinite(vector).all():
            raise BadSetting(f"the vector of '{asked}' holds nan or inf, so nothing is near to it")
        return vector
    given = np.asarray(asked, dtype=np.float32)
    if given.shape != (vectors.dim,):
        raise BadSetting(f"a vector of shape {given.shape} beside vectors of {vectors.dim} numbers")
    if not np.isfinite(given).all() or not np.any(given):
        raise BadSetting("a vector to ask with must be finite and not all zeros")
    return given


def rows_of(vectors: Vectors, words: Sequence[object]) -> list[int]:
    """The rows of those that are words with a row: inputs, to be left out of the answer."""
    rows = [vectors.row(word) for word in words if isinstance(word, str)]
    return [row for row in rows if row >= 0]
