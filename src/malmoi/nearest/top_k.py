"""The top k rows for given directions, exactly.

Many directions are scored against tiles of the matrix that stay in the processor's cache. Single
directions, from the second query on, are screened by an int8 copy (`Int8Index`). Knows nothing
of words.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args
from weakref import WeakKeyDictionary

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.errors import InvalidArgumentError
from malmoi.vectors import Vectors, row_norms

if TYPE_CHECKING:
    from malmoi.nearest.int8_index import Int8Index

Metric = Literal["cosine", "dot", "euclidean"]

TILE_ROWS, TILE_DIRECTIONS = 2048, 1024
GROUP_ROWS = 64  # rows of which only the maximum is compared at first
SMALLEST_LENGTH, LARGEST_LENGTH = 1e-12, 1e15  # of vectors whose products are exact enough
MIN_QUANTIZED_SIZE = 1 << 20  # numbers: smaller matrices are as fast without an int8 copy

# None after the first query; an int8 copy of the vectors from the second one on.
_int8_indexes: WeakKeyDictionary[Vectors, "Int8Index | None"] = WeakKeyDictionary()


@dataclass(frozen=True)
class Ranking:
    """The best rows of each direction and their scores, best first: both [directions, k]."""

    rows: Int64Array
    scores: Float32Array


def rank_rows(
    vectors: Vectors, directions: Float32Array, k: int, metric: Metric = "cosine"
) -> Ranking:
    """The k rows nearest to each of `directions` [q, dim].

    Scores are cosines, dot products or Euclidean distances. Higher is better, except for
    distances.
    """
    if metric not in get_args(Metric):
        raise InvalidArgumentError(
            f"metric must be one of {', '.join(get_args(Metric))}; got '{metric}'"
        )
    if directions.shape[1] != vectors.dim:
        raise InvalidArgumentError(
            f"the query vector has {directions.shape[1]} dimensions, the vectors have {vectors.dim}"
        )
    if len(vectors) == 0:
        raise InvalidArgumentError("there are no vectors to search")
    check_finite(vectors)
    k = min(k, len(vectors))
    scaled, queries = (vectors, directions) if metric == "cosine" else rescale(vectors, directions)
    if len(directions) == 1:
        rows = _rank_one(scaled, queries[0], k, metric)[np.newaxis]
    else:
        rows = _rank_tiles(scaled, queries, k, metric)
    return score_rows(vectors, directions, rows, metric)


def check_finite(vectors: Vectors) -> None:
    """Raise `InvalidArgumentError` if a vector holds nan or inf: it would be near everything."""
    if vectors.first_nonfinite_row >= 0:
        word = vectors.keys[vectors.first_nonfinite_row]
        raise InvalidArgumentError(
            f"the vector of '{word}' holds nan or inf, or its norm exceeds 3e38: remove it with"
            " take()"
        )


def rescale(vectors: Vectors, directions: Float32Array) -> tuple[Vectors, Float32Array]:
    """Divide both by the largest norm where their products could overflow or underflow.

    A common factor changes neither the order of dot products nor that of distances.
    """
    largest = max(float(vectors.norms.max()), float(row_norms(directions).max(initial=0)))
    if SMALLEST_LENGTH < largest < LARGEST_LENGTH or not 0 < largest < np.inf:
        return vectors, directions
    matrix, queries = ((rows / np.float64(largest)) for rows in (vectors.matrix, directions))
    return Vectors(vectors.keys, matrix), queries.astype(np.float32)


def all_scores(
    vectors: Vectors, direction: Float32Array, metric: Metric = "cosine"
) -> Float32Array:
    """The score of every row for one direction; higher is nearer."""
    check_finite(vectors)
    scores: Float32Array = vectors.matrix @ direction
    if metric == "cosine":
        scores /= safe_norms(vectors.norms)
    elif metric == "euclidean":
        scores -= np.float32(0.5) * vectors.norms * vectors.norms
    return scores


def top_k(scores: Float32Array, k: int) -> Int64Array:
    """The rows of the k highest scores, best first; ties by row.

    The k best lie in the k groups with the highest maxima, so only those are sorted.
    """
    groups = len(scores) // GROUP_ROWS
    if groups <= k:
        candidates = np.arange(len(scores))
    else:
        # Group g holds rows g, g + groups, …: NumPy is fastest at maxima of long rows.
        maxima = scores[: groups * GROUP_ROWS].reshape(GROUP_ROWS, groups).max(axis=0)
        least = np.partition(maxima, -k)[-k]
        best = np.flatnonzero(maxima >= least)
        inside = (best + groups * np.arange(GROUP_ROWS)[:, np.newaxis]).ravel()
        candidates = np.concatenate([inside, np.arange(groups * GROUP_ROWS, len(scores))])
        candidates = candidates[scores[candidates] >= least]
    order = np.lexsort((candidates, -scores[candidates]))[:k]
    return candidates[order]


def safe_norms(norms: Float32Array) -> Float32Array:
    """Norms to divide by: one instead of zero."""
    safe: Float32Array = np.where(norms == 0, np.float32(1), norms)
    return safe


def _tile(
    vectors: Vectors, rows: slice, metric: Metric
) -> tuple[Float32Array, Float32Array | None]:
    """A block of rows for the product with the directions, and the offset to subtract."""
    block, norms = vectors.matrix[rows], vectors.norms[rows, np.newaxis]
    if metric == "cosine":
        block = block / safe_norms(norms)
    # |d - x|² ranks rows like |x|²/2 - d·x: |d|² is the same for all of them.
    return block, np.float32(0.5) * norms * norms if metric == "euclidean" else None


def _rank_one(vectors: Vectors, direction: Float32Array, k: int, metric: Metric) -> Int64Array:
    """The k best rows of one direction."""
    if (
        metric != "cosine"
        or vectors.matrix.size < MIN_QUANTIZED_SIZE
        or not _is_second_query(vectors)
    ):
        return top_k(all_scores(vectors, direction, metric), k)
    from malmoi.nearest.int8_index import build_int8_index  # loads compiled code

    index = _int8_indexes[vectors] = _int8_indexes[vectors] or build_int8_index(vectors)
    rows = index.candidates(direction, k)
    scores = vectors.matrix[rows] @ direction
    scores /= safe_norms(vectors.norms[rows])
    return rows[top_k(scores, k)]


def _is_second_query(vectors: Vectors) -> bool:
    is_second = vectors in _int8_indexes
    _int8_indexes.setdefault(vectors, None)
    return is_second


def _rank_tiles(vectors: Vectors, directions: Float32Array, k: int, metric: Metric) -> Int64Array:
    """The k best rows of each direction, tile after tile."""
    parts = range(0, len(directions), TILE_DIRECTIONS)
    best = [_TopK(directions[i : i + TILE_DIRECTIONS], k) for i in parts]
    for start in range(0, len(vectors), TILE_ROWS):
        block, offset = _tile(vectors, slice(start, start + TILE_ROWS), metric)
        for part in best:
            scores = block @ part.directions.T
            part.update(scores if offset is None else scores - offset, start)
    return np.concatenate([part.finish() for part in best])


class _TopK:
    """The best rows so far; rows that cannot be among the top k are dropped at once."""

    def __init__(self, directions: Float32Array, k: int) -> None:
        self.directions, self.k = directions, k
        self.least = np.full(len(directions), -np.inf, dtype=np.float32)
        self.which, self.rows = np.empty(0, np.int64), np.empty(0, np.int64)
        self.scores = np.empty(0, np.float32)
        self.pending: list[tuple[Int64Array, Int64Array, Float32Array]] = []

    def update(self, scores: Float32Array, start: int) -> None:
        """Take scores [rows, directions] of the rows from `start` on.

        Only groups of rows whose maximum is good enough are examined.
        """
        if len(scores) > self.k and np.isneginf(self.least[0]):
            # A first bound, so that not all of the first tile becomes pending.
            self.least = np.partition(scores, -self.k, axis=0)[-self.k]
            self.least = np.nextafter(self.least, np.float32(-np.inf))
        missing = -len(scores) % GROUP_ROWS
        if missing:
            scores = np.pad(scores, ((0, missing), (0, 0)), constant_values=-np.inf)
        grouped = scores.reshape(-1, GROUP_ROWS, scores.shape[1])
        group, which = np.nonzero(grouped.max(axis=1) > self.least)
        inside = grouped[group, :, which]
        hit, lane = np.nonzero(inside > self.least[which, np.newaxis])
        self.pending.append((which[hit], start + group[hit] * GROUP_ROWS + lane, inside[hit, lane]))
        if sum(len(part[0]) for part in self.pending) > self.k * len(self.directions):
            self._merge()

    def finish(self) -> Int64Array:
        """The best rows, [directions, k]."""
        self._merge()
        return self.rows.reshape(len(self.directions), -1)

    def _merge(self) -> None:
        if not self.pending:
            return
        merged = (self.which, self.rows, self.scores)
        which, rows, scores = (
            np.concatenate(parts) for parts in zip(merged, *self.pending, strict=True)
        )
        order = np.lexsort((rows, -scores, which))
        rank = np.arange(len(order)) - np.searchsorted(which[order], which[order])
        best = order[rank < self.k]
        self.which, self.rows, self.scores, self.pending = which[best], rows[best], scores[best], []
        if len(best) == self.k * len(self.directions):
            self.least = self.scores.reshape(-1, self.k)[:, -1]


def score_rows(
    vectors: Vectors, directions: Float32Array, rows: Int64Array, metric: Metric
) -> Ranking:
    """Rows [directions, k] sorted by scores recomputed in double precision, best first."""
    candidates = vectors.matrix[rows].astype(np.float64)  # [q, k, dim]
    if metric == "euclidean":
        scores = np.linalg.norm(candidates - directions[:, np.newaxis], axis=2)
    else:
        scores = np.einsum("qkd,qd->qk", candidates, directions.astype(np.float64))
    if metric == "cosine":
        norms = np.linalg.norm(candidates, axis=2)
        scores /= np.where(norms == 0, 1, norms)
    order = np.lexsort((rows, scores if metric == "euclidean" else -scores), axis=1)
    with np.errstate(over="ignore"):  # a product beyond single precision is inf
        best: Float32Array = np.take_along_axis(scores, order, axis=1).astype(np.float32)
    return Ranking(np.take_along_axis(rows, order, axis=1), best)
