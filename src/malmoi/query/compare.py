"""Words compared with each other: similarity, rank among neighbours, the odd one out."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from malmoi.arguments import expect
from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError, UnknownWordError
from malmoi.nearest.top_k import all_scores
from malmoi.query.directions import Query, make_query, resolve_word, rows_of
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.vectors import Vectors, expect_vectors, l2_normalize


class WordComparison(NamedTuple):
    """The cosine of two words, and the rank of the second among the neighbours of the first.

    `rank` is None where the second word has no row, or is the first.
    """

    similarity: float
    rank: int | None


def similarity(
    vectors: Vectors,
    a: str | Float32Array,
    b: str | Float32Array,
    *,
    reporter: Reporter = DEFAULT_REPORTER,
) -> float:
    """The cosine between two words or vectors.

    Args:
        vectors: The vectors that hold the words.
        a: A word, or a one-dimensional array.
        b: Another.
        reporter: Called with an `Explanation` of each word that has no row of its own.

    Returns:
        A number from -1 to 1.

    Raises:
        UnknownWordError: A word has no row and cannot be corrected or built from n-grams.
        InvalidArgumentError: A vector is zero, not finite or of another dimension.
    """
    expect_reporter(reporter)
    return _cosine(*(make_query(vectors, query, reporter) for query in (a, b)))


def odd_one_out(
    vectors: Vectors, words: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
) -> str:
    """The word that is farthest from the mean of all words.

    Args:
        vectors: The vectors that hold the words.
        words: At least three words.
        reporter: Called with an `Explanation` of each word that has no row of its own.

    Returns:
        One of the words.

    Raises:
        UnknownWordError: A word has no row and cannot be corrected or built from n-grams.
        InvalidArgumentError: There are fewer than three words, or they are one string.
    """
    expect_reporter(reporter)
    expect_vectors(vectors)
    expect(words, Iterable, "words", "a list of words")
    if isinstance(words, str):
        raise InvalidArgumentError(f"words must be a list of words, not the string '{words}'")
    names = list(map(str, words))
    if len(names) < 3:
        raise InvalidArgumentError(f"give at least three words; got {len(names)}")
    queries = [make_query(vectors, word, reporter) for word in names]
    return names[farthest_from_mean(np.stack([query.direction for query in queries]))]


def farthest_from_mean(rows: Float32Array) -> int:
    """The row, of [n, dim] scaled to length 1, that is farthest from the mean of all."""
    directions = l2_normalize(rows)
    return int(np.argmin(directions @ directions.mean(axis=0)))


def rank(vectors: Vectors, word: str, other: str, *, reporter: Reporter = DEFAULT_REPORTER) -> int:
    """The rank of `other` among the neighbours of `word`: 1 is the nearest.

    Args:
        vectors: The vectors that hold the words.
        word: The word whose neighbours are ranked.
        other: A word with a row of its own.
        reporter: Called with an `Explanation` if `word` has no row of its own.

    Returns:
        A rank from 1.

    Raises:
        UnknownWordError: `other` has no row, or `word` is not known at all.
        InvalidArgumentError: Both are the same word.
    """
    expect_reporter(reporter)
    expect(word, str, "word", "a string")
    expect(other, str, "other", "a string")
    query = make_query(vectors, word, reporter)
    resolve_word(vectors, other)  # raises with suggestions for an unknown word
    if vectors.row(other) < 0:
        raise UnknownWordError(other)
    if vectors.row(other) == vectors.row(word):
        raise InvalidArgumentError(f"'{word}' is not its own neighbour: give another word")
    return _rank(vectors, query, vectors.row(other))


def compare_words(
    vectors: Vectors, a: str, b: str, *, reporter: Reporter = DEFAULT_REPORTER
) -> WordComparison:
    """The similarity of two words and the rank of `b` among the neighbours of `a`."""
    queries = [make_query(vectors, word, reporter) for word in (a, b)]
    row = vectors.row(b)
    has_rank = row >= 0 and row != vectors.row(a)
    return WordComparison(_cosine(*queries), _rank(vectors, queries[0], row) if has_rank else None)


def _cosine(a: Query, b: Query) -> float:
    one, other = (l2_normalize(query.direction.astype(np.float64)) for query in (a, b))
    return float(one @ other)


def _rank(vectors: Vectors, query: Query, row: int) -> int:
    scores = all_scores(vectors, l2_normalize(query.direction))
    scores[rows_of(vectors, query.words)] = -np.inf
    return int(np.count_nonzero(scores > scores[row])) + 1
