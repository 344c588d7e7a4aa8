"""The nearest words to a word or a vector, or to many at once."""

from collections.abc import Iterable
from typing import Any, NamedTuple, overload

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.nearest.top_k import Metric, rank_rows
from malmoi.query.directions import OnReading, check_count, question_of, rows_of, unheard
from malmoi.vectors import Vectors, l2_normalize


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
    on_reading: OnReading = unheard,
) -> list[Neighbour]: ...
@overload
def neighbours(
    vectors: Vectors,
    asked: Float32Array,
    k: int = 10,
    *,
    metric: Metric = "cosine",
    most_frequent: int | None = None,
    on_reading: OnReading = unheard,
) -> list[Any]: ...
@overload
def neighbours(
    vectors: Vectors,
    asked: Iterable[str | Float32Array],
    k: int = 10,
    *,
    metric: Metric = "cosine",
    most_frequent: int | None = None,
    on_reading: OnReading = unheard,
) -> list[list[Neighbour]]: ...
def neighbours(
    vectors: Vectors,
    asked: str | Iterable[str | Float32Array],
    k: int = 10,
    *,
    metric: Metric = "cosine",
    most_frequent: int | None = None,
    on_reading: OnReading = unheard,
) -> list[Neighbour] | list[list[Neighbour]]:
    """The k nearest words to `asked`, words asked with left out.

    A word, or a vector as a one-dimensional array, gives one list; several of them give a
    list each, far faster than one after the other. `most_frequent` looks through that many
    words only. Scores are cosines, dot products or Euclidean distances; best first.
    `on_reading` is called with the explanation of each word that has no row of its own.
    """
    if isinstance(asked, str):
        return _neighbours(vectors, [asked], k, metric, most_frequent, on_reading)[0]
    if isinstance(asked, np.ndarray) and asked.ndim == 1 and asked.dtype.kind in "fiub":
        return _neighbours(vectors, [asked], k, metric, most_frequent, on_reading)[0]
    return _neighbours(vectors, list(asked), k, metric, most_frequent, on_reading)


def _neighbours(
    vectors: Vectors,
    asked: list[str | Float32Array],
    k: int,
    metric: Metric,
    most_frequent: int | None,
    on_reading: OnReading,
) -> list[list[Neighbour]]:
    check_count(k)
    if not asked:
        return []
    questions = [question_of(vectors, one, on_reading) for one in asked]
    directions = np.stack([question.direction for question in questions])
    if metric == "cosine":
        directions = l2_normalize(directions)
    among = vectors if most_frequent is None else vectors.most_frequent(most_frequent)
    left_out = [rows_of(among, question.words) for question in questions]
    # More than asked for: the words asked with are usually among them.
    ranking = rank_rows(among, directions, k + max(1, *map(len, left_out)), metric)
    answers = []
    for own, rows, scores in zip(left_out, ranking.rows, ranking.scores, strict=True):
        found = zip(rows.tolist(), scores.tolist(), strict=True)
        near = [Neighbour(among.keys[row], score) for row, score in found if row not in own]
        answers.append(near[:k])
    return answers
