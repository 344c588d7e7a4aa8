"""Words compared with each other: how similar, which is the odd one, how far down the list."""

from collections.abc import Iterable

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.nearest.top_k import closeness
from malmoi.query.directions import OnReading, question_of, rows_of, understand, unheard
from malmoi.vectors import Vectors, l2_normalize


def similarity(
    vectors: Vectors,
    one: str | Float32Array,
    other: str | Float32Array,
    *,
    on_reading: OnReading = unheard,
) -> float:
    """The cosine between two words or vectors.

    `on_reading` is called with the explanation of each word that has no row of its own.
    """
    questions = [question_of(vectors, asked, on_reading) for asked in (one, other)]
    a, b = (l2_normalize(question.direction.astype(np.float64)) for question in questions)
    return float(a @ b)


def odd_one_out(vectors: Vectors, words: Iterable[str], *, on_reading: OnReading = unheard) -> str:
    """The word that is farthest from the mean of all of them.

    `on_reading` is called with the explanation of each word that has no row of its own.
    """
    if isinstance(words, str):
        raise InvalidArgumentError(f"the words are the one string '{words}': give a list of words")
    asked = list(map(str, words))
    if len(asked) < 3:
        raise InvalidArgumentError(f"{len(asked)} words have no odd one: give at least three")
    questions = [question_of(vectors, word, on_reading) for word in asked]
    directions = l2_normalize(np.stack([question.direction for question in questions]))
    return asked[int(np.argmin(directions @ directions.mean(axis=0)))]


def rank(vectors: Vectors, word: str, other: str) -> int:
    """Which neighbour of `word` the `other` is: 1 is the nearest."""
    asked = question_of(vectors, word)
    direction = l2_normalize(asked.direction)
    understand(vectors, other)  # says so if there is no such word
    found = vectors.row(other)
    if found < 0:
        raise UnknownWordError(other)
    if found == vectors.row(word):
        raise InvalidArgumentError(f"'{word}' is no neighbour of itself: give another word")
    near = closeness(vectors, direction)
    near[rows_of(vectors, asked.words)] = -np.inf
    return int(np.count_nonzero(near > near[found])) + 1
