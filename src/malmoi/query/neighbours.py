"""The nearest words of a word or a vector, or of many at once."""

from collections.abc import Iterable
from typing import Any, NamedTuple, overload

import numpy as np

from malmoi.arguments import expect
from malmoi.arrays import Float32Array
from malmoi.nearest.top_k import Metric, rank_rows
from malmoi.query.directions import check_k, make_query, restrict, rows_of
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.table import Table, TabularList
from malmoi.vectors import Vectors, expect_vectors, l2_normalize

MAX_ROWS = 50  # of a table


class Neighbour(NamedTuple):
    """A word and its score."""

    key: str
    score: float


class Neighbours(TabularList[Neighbour]):
    """The nearest words of a query, best first: a list that is shown as a table.

    `query` is the word or the expression; "" for a vector.
    """

    def __init__(self, neighbours: Iterable[Neighbour] = (), query: str = "") -> None:
        super().__init__(neighbours)
        self.query = query

    def _table(self) -> Table:
        of = f" of {self.query}" if self.query else ""
        return Table(f"{len(self):,} neighbours{of}", ["word", "score"], self[:MAX_ROWS], len(self))


class NeighbourLists(TabularList[Neighbours]):
    """The nearest words of several queries, one list per query."""

    def _table(self) -> Table:
        rows = [
            [near.query or f"vector {i}", ", ".join(word for word, _ in near)]
            for i, near in enumerate(self[:MAX_ROWS])
        ]
        return Table(f"neighbours of {len(self):,} queries", ["query", "nearest"], rows, len(self))


@overload
def neighbours(  # type: ignore[overload-overlap]  # a string is an iterable of strings too
    vectors: Vectors,
    query: str,
    k: int = 10,
    *,
    metric: Metric = "cosine",
    restrict_vocab: int | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Neighbours: ...
@overload
def neighbours(
    vectors: Vectors,
    query: Float32Array,
    k: int = 10,
    *,
    metric: Metric = "cosine",
    restrict_vocab: int | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Any: ...
@overload
def neighbours(
    vectors: Vectors,
    query: Iterable[str | Float32Array],
    k: int = 10,
    *,
    metric: Metric = "cosine",
    restrict_vocab: int | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> NeighbourLists: ...
def neighbours(
    vectors: Vectors,
    query: str | Iterable[str | Float32Array],
    k: int = 10,
    *,
    metric: Metric = "cosine",
    restrict_vocab: int | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Neighbours | NeighbourLists:
    """The k nearest words to a query, without the words of the query themselves.

    Args:
        vectors: The vectors to search.
        query: A word, a one-dimensional array, or several of either. Several queries in one call
            are far faster than one call each.
        k: How many neighbours to return per query.
        metric: "cosine", "dot" (dot product) or "euclidean" (distance).
        restrict_vocab: Search only the most frequent words, this many.
        reporter: Called with an `Explanation` of each word that has no row of its own; the
            default warns.

    Returns:
        Words with scores, best first: one list for a single query, a list of lists for several.
        A notebook shows both as a table.

    Raises:
        UnknownWordError: A word has no row and cannot be corrected or built from n-grams.
        InvalidArgumentError: k, the metric, restrict_vocab or a query vector is not valid.
    """
    expect_reporter(reporter)
    is_word = isinstance(query, str)
    if is_word or (
        isinstance(query, np.ndarray) and query.ndim == 1 and query.dtype.kind in "fiub"
    ):
        return _neighbours(vectors, [query], k, metric, restrict_vocab, reporter)[0]
    expect(query, Iterable, "query", "a word, a vector, or a list of them")
    return _neighbours(vectors, list(query), k, metric, restrict_vocab, reporter)


def _neighbours(
    vectors: Vectors,
    words: list[Any],
    k: int,
    metric: Metric,
    restrict_vocab: int | None,
    reporter: Reporter,
) -> NeighbourLists:
    expect_vectors(vectors)
    check_k(k)
    results = NeighbourLists()
    if not words:
        return results
    queries = [make_query(vectors, word, reporter) for word in words]
    directions = np.stack([query.direction for query in queries])
    if metric == "cosine":
        directions = l2_normalize(directions)
    candidates = restrict(vectors, restrict_vocab)
    excluded = [rows_of(candidates, query.words) for query in queries]
    # More than k, because the words of the query are usually among the nearest.
    ranking = rank_rows(candidates, directions, k + max(1, *map(len, excluded)), metric)
    for word, own, rows, scores in zip(words, excluded, ranking.rows, ranking.scores, strict=True):
        pairs = zip(rows.tolist(), scores.tolist(), strict=True)
        near = [Neighbour(candidates.keys[row], score) for row, score in pairs if row not in own]
        results.append(Neighbours(near[:k], word if isinstance(word, str) else ""))
    return results
