"""The nearest words to a word or a vector, or to many at once."""

from collections.abc import Iterable
from typing import Any, NamedTuple, overload

import numpy as np

from malmoi.nearest.ranking import Metric, rank_rows
from malmoi.query.words import check_count, direction_of, rows_of
from malmoi.vectors import Matrix, Vectors, l2_normalize


class Neighbour(NamedTuple):
    """A word and how near it is."""

    key: str
    score: float


@overload
def neighbours(  # type: ignore[overload-overlap]  # a string is an iterable of strings too
    vectors: Vectors,
    asked: str,
    k: int = 10,
    *,
    metric: Metric = "cosine",
    most_frequent: int | None = None,
) -> list[Neighbour]: ...
@overload
def neighbours(
    vectors: Vectors,
    asked: Matrix,
    k: int = 10,
    *,
    metric: Metric = "cosine",
    most_frequent: int | None = None,
) -> list[Any]: ...
@overload
def neighbours(
    vectors: Vectors,
    asked: Iterable[str | Matrix],
    k: int = 10,
    *,
    metric: Metric = "cosine",
    most_frequent: int | None = None,
) -> list[list[Neighbour]]: ...
def neighbours(
    vectors: Vectors,
    asked: str | Iterable[str | Matrix],
    k: int = 10,
    *,
    metric: Metric = "cosine",
    most_frequent: int | None = None,
) -> list[Neighbour] | list[list[Neighbour]]:
    """The k nearest words to `asked`, words asked with left out.

    A word, or a vector as a one-dimensional array, gives one list; several of them give a
    list each, far faster than one after the other. `most_frequent` looks through that many
    words only. Scores are cosines, dot products or Euclidean distances; best first.
    """
    if isinstance(asked, str):
        return _neighbours(vectors, [asked], k, metric, most_frequent)[0]
    if isinstance(asked, np.ndarray) and asked.ndim == 1 and asked.dtype.kind in "fiub":
        return _neighbours(vectors, [asked], k, metric, most_frequent)[0]
    return _neighbours(vectors, list(asked), k, metric, most_frequent)


def _neighbours(
    vectors: Vectors, asked: list[str | Matrix], k: int, metric: Metric, most_frequent: int | None
) -> list[list[Neighbour]]:
    check_count(k)
    if not asked:
        return []
    directions = np.stack([direction_of(vectors, one) for one in asked])
    if metric == "cosine":
        directions = l2_normalize(directions)
    among = vectors if most_frequent is None else vectors.most_frequent(most_frequent)
    # One more than asked for: the word itself is usually among them.
    ranking = rank_rows(among, directions, k + 1, metric)
    answers = []
    for one, rows, scores in zip(asked, ranking.rows, ranking.scores, strict=True):
        own = rows_of(among, [one])
        found = zip(rows.tolist(), scores.tolist(), strict=True)
        near = [Neighbour(among.keys[row], score) for row, score in found if row not in own]
        answers.append(near[:k])
    return answers
