"""The best k rows for some directions, exactly.

Knows nothing of words. Many directions are worked through in tiles of the matrix that stay
in the processor's cache; single ones, from the second on, over a coarse copy (`screen`).
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
GROUP = 64  # rows of which only the best is looked at first
SMALLEST_LENGTH, LARGEST_LENGTH = 1e-12, 1e15  # of vectors whose products are exact enough
WORTH_SCREENING = 1 << 20  # numbers: fewer are multiplied as fast as they are

# None after the first question; a coarse copy of the vectors from the second one on.
_screens: WeakKeyDictionary[Vectors, "Int8Index | None"] = WeakKeyDictionary()


@dataclass(frozen=True)
class Ranking:
    """For each direction the best rows and their scores, best first: both [directions, k]."""

    rows: Int64Array
    scores: Float32Array


def rank_rows(
    vectors: Vectors, directions: Float32Array, k: int, metric: Metric = "cosine"
) -> Ranking:
    """The k rows nearest to each of `directions` [q, dim].

    Scores are cosines, dot products or Euclidean distances; only of the last is less better.
    """
    if metric not in get_args(Metric):
        raise InvalidArgumentError(
            f"'{metric}' is no metric: choose one of {', '.join(get_args(Metric))}"
        )
    if directions.shape[1] != vectors.dim:
        raise InvalidArgumentError(
            f"a vector of {directions.shape[1]} numbers beside vectors of {vectors.dim}"
        )
    if len(vectors) == 0:
        raise InvalidArgumentError("there are no vectors to look through")
    refuse_immeasurable(vectors)
    k = min(k, len(vectors))
    seen, asked = (vectors, directions) if metric == "cosine" else rescaled(vectors, directions)
    if len(directions) == 1:
        found = _rank_one(seen, asked[0], k, metric)[np.newaxis]
    else:
        found = _rank_tiles(seen, asked, k, metric)
    return score_rows(vectors, directions, found, metric)


def refuse_immeasurable(vectors: Vectors) -> None:
    """Refuse vectors of which one holds nan or inf: it would be nearest to everything."""
    if vectors.immeasurable >= 0:
        word = vectors.keys[vectors.immeasurable]
        raise InvalidArgumentError(
            f"the vector of '{word}' holds nan or inf, or is longer than 3e38: leave it out, with"
            " take()"
        )


def rescaled(vectors: Vectors, directions: Float32Array) -> tuple[Vectors, Float32Array]:
    """Both divided by the largest length, where products of them could overflow or vanish.

    A common factor changes neither the order of dot products nor that of distances.
    """
    largest = max(float(vectors.norms.max()), float(row_norms(directions).max(initial=0)))
    if SMALLEST_LENGTH < largest < LARGEST_LENGTH or not 0 < largest < np.inf:
        return vectors, directions
    matrix, asked = ((rows / np.float64(largest)) for rows in (vectors.matrix, directions))
    return Vectors(vectors.keys, matrix), asked.astype(np.float32)


def closeness(vectors: Vectors, direction: Float32Array, metric: Metric = "cosine") -> Float32Array:
    """How near every row is to one direction, more being nearer."""
    refuse_immeasurable(vectors)
    near: Float32Array = vectors.matrix @ direction
    if metric == "cosine":
        near /= divisors(vectors.norms)
    elif metric == "euclidean":
        near -= np.float32(0.5) * vectors.norms * vectors.norms
    return near


def top(scores: Float32Array, k: int) -> Int64Array:
    """The rows of the k highest scores, best first, equal ones by row.

    The k best lie in the k groups with the best maxima, so only those are sorted.
    """
    groups = len(scores) // GROUP
    if groups <= k:
        candidates = np.arange(len(scores))
    else:
        # Group g holds rows g, g + groups, …: maxima of long rows are what NumPy does fastest.
        maxima = scores[: groups * GROUP].reshape(GROUP, groups).max(axis=0)
        least = np.partition(maxima, -k)[-k]
        best = np.flatnonzero(maxima >= least)
        inside = (best + groups * np.arange(GROUP)[:, np.newaxis]).ravel()
        candidates = np.concatenate([inside, np.arange(groups * GROUP, len(scores))])
        candidates = candidates[scores[candidates] >= least]
    order = np.lexsort((candidates, -scores[candidates]))[:k]
    return candidates[order]


def divisors(lengths: Float32Array) -> Float32Array:
    """Lengths to divide by: one instead of zero."""
    safe: Float32Array = np.where(lengths == 0, np.float32(1), lengths)
    return safe


def _tile(
    vectors: Vectors, rows: slice, metric: Metric
) -> tuple[Float32Array, Float32Array | None]:
    """Rows to be multiplied with directions, and what is to be taken off each one's products."""
    block, norms = vectors.matrix[rows], vectors.norms[rows, np.newaxis]
    if metric == "cosine":
        block = block / divisors(norms)
    # Of |d - x|² only 2 d·x - |x|² depends on the row; half of it ranks the same.
    return block, np.float32(0.5) * norms * norms if metric == "euclidean" else None


def _rank_one(vectors: Vectors, direction: Float32Array, k: int, metric: Metric) -> Int64Array:
    """The k best rows of one direction."""
    if metric != "cosine" or vectors.matrix.size < WORTH_SCREENING or not _asked_again(vectors):
        return top(closeness(vectors, direction, metric), k)
    from malmoi.nearest.int8_index import make_screen  # compiled code: not for a first question

    screen = _screens[vectors] = _screens[vectors] or make_screen(vectors)
    rows = screen.candidates(direction, k)
    near = vectors.matrix[rows] @ direction
    near /= divisors(vectors.norms[rows])
    return rows[top(near, k)]


def _asked_again(vectors: Vectors) -> bool:
    again = vectors in _screens
    _screens.setdefault(vectors, None)
    return again


def _rank_tiles(vectors: Vectors, directions: Float32Array, k: int, metric: Metric) -> Int64Array:
    """The k best rows of each direction, tile after tile."""
    parts = range(0, len(directions), TILE_DIRECTIONS)
    holders = [_TopK(directions[i : i + TILE_DIRECTIONS], k) for i in parts]
    for start in range(0, len(vectors), TILE_ROWS):
        block, less = _tile(vectors, slice(start, start + TILE_ROWS), metric)
        for holder in holders:
            near = block @ holder.directions.T
            holder.offer(near if less is None else near - less, start)
    return np.concatenate([holder.finish() for holder in holders])


class _TopK:
    """Holds the best rows so far; what cannot be among the k best is dropped at once."""

    def __init__(self, directions: Float32Array, k: int) -> None:
        self.directions, self.k = directions, k
        self.least = np.full(len(directions), -np.inf, dtype=np.float32)
        self.which, self.rows = np.empty(0, np.int64), np.empty(0, np.int64)
        self.scores = np.empty(0, np.float32)
        self.waiting: list[tuple[Int64Array, Int64Array, Float32Array]] = []

    def offer(self, near: Float32Array, start: int) -> None:
        """Scores [rows, directions] of the rows from `start` on.

        Only groups of rows whose best is good enough are looked into.
        """
        if len(near) > self.k and np.isneginf(self.least[0]):
            # Nothing is known yet: a bound, so that not all of the first tile is held.
            self.least = np.partition(near, -self.k, axis=0)[-self.k]
            self.least = np.nextafter(self.least, np.float32(-np.inf))
        missing = -len(near) % GROUP
        if missing:
            near = np.pad(near, ((0, missing), (0, 0)), constant_values=-np.inf)
        grouped = near.reshape(-1, GROUP, near.shape[1])
        group, which = np.nonzero(grouped.max(axis=1) > self.least)
        inside = grouped[group, :, which]
        hit, lane = np.nonzero(inside > self.least[which, np.newaxis])
        self.waiting.append((which[hit], start + group[hit] * GROUP + lane, inside[hit, lane]))
        if sum(len(part[0]) for part in self.waiting) > self.k * len(self.directions):
            self._merge()

    def finish(self) -> Int64Array:
        """[directions, k]."""
        self._merge()
        return self.rows.reshape(len(self.directions), -1)

    def _merge(self) -> None:
        if not self.waiting:
            return
        held = (self.which, self.rows, self.scores)
        which, rows, scores = (
            np.concatenate(parts) for parts in zip(held, *self.waiting, strict=True)
        )
        order = np.lexsort((rows, -scores, which))
        place = np.arange(len(order)) - np.searchsorted(which[order], which[order])
        kept = order[place < self.k]
        self.which, self.rows, self.scores, self.waiting = which[kept], rows[kept], scores[kept], []
        if len(kept) == self.k * len(self.directions):
            self.least = self.scores.reshape(-1, self.k)[:, -1]


def score_rows(
    vectors: Vectors, directions: Float32Array, rows: Int64Array, metric: Metric
) -> Ranking:
    """Rows [directions, k] with their scores, computed anew in double precision, best first."""
    found = vectors.matrix[rows].astype(np.float64)  # [q, k, dim]
    if metric == "euclidean":
        scores = np.linalg.norm(found - directions[:, np.newaxis], axis=2)
    else:
        scores = np.einsum("qkd,qd->qk", found, directions.astype(np.float64))
    if metric == "cosine":
        lengths = np.linalg.norm(found, axis=2)
        scores /= np.where(lengths == 0, 1, lengths)
    order = np.lexsort((rows, scores if metric == "euclidean" else -scores), axis=1)
    with np.errstate(over="ignore"):  # a product beyond single precision is inf
        best: Float32Array = np.take_along_axis(scores, order, axis=1).astype(np.float32)
    return Ranking(np.take_along_axis(rows, order, axis=1), best)
