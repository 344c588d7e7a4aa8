"""Words compared with each other: how similar, which is the odd one, how far down the list."""

from collections.abc import Iterable

import numpy as np

from malmoi.errors import BadSetting, UnknownWord
from malmoi.nearest.ranking import closeness
from malmoi.query.words import direction_of, rows_of, vector_of
from malmoi.vectors import Matrix, Vectors, l2_normalize


def similarity(vectors: Vectors, one: str | Matrix, other: str | Matrix) -> float:
    """The cosine between two words or vectors."""
    a, b = (l2_normalize(direction_of(vectors, asked).astype(np.float64)) for asked in (one, other))
    return float(a @ b)


def odd_one_out(vectors: Vectors, words: Iterable[str]) -> str:
    """The word that is farthest from the mean of all of them."""
    if isinstance(words, str):
        raise BadSetting(f"the words are the one string '{words}': give a list of words")
    asked = list(map(str, words))
    if len(asked) < 3:
        raise BadSetting(f"{len(asked)} words have no odd one: give at least three")
    directions = l2_normalize(np.stack([direction_of(vectors, word) for word in asked]))
    return asked[int(np.argmin(directions @ directions.mean(axis=0)))]


def rank(vectors: Vectors, word: str, other: str) -> int:
    """Which neighbour of `word` the `other` is: 1 is the nearest."""
    direction = l2_normalize(direction_of(vectors, word))
    vector_of(vectors, other)  # says so if there is no such word
    found = vectors.row(other)
    if found < 0:
        raise UnknownWord(other)
    if found == vectors.row(word):
        raise BadSetting(f"'{word}' is no neighbour of itself: give another word")
    near = closeness(vectors, direction)
    near[rows_of(vectors, [word])] = -np.inf
    return int(np.count_nonzero(near > near[found])) + 1
