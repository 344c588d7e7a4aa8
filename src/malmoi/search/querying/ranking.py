"""The best rows of a state: by vector, exactly or through clusters; by words."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from malmoi.arrays import BoolArray, Float32Array, Int64Array
from malmoi.errors import InvalidArgumentError, warn
from malmoi.nearest.top_k import all_scores, rank_rows, safe_norms, top_k
from malmoi.search.querying.bm25 import score_words
from malmoi.search.querying.filters import Condition
from malmoi.search.storage.clusters import Clusters, can_cluster
from malmoi.search.storage.segment import Segment
from malmoi.search.storage.state import State

FEW = 0.1  # of the rows: those are gathered and looked at exactly, more are masked


@dataclass(frozen=True, eq=False)
class Ranked:
    """Rows and their scores, best first."""

    rows: Int64Array
    scores: Float32Array


NOTHING = Ranked(np.empty(0, np.int64), np.empty(0, np.float32))


def allowed_rows(state: State, conditions: Sequence[Condition]) -> tuple[BoolArray, ...]:
    """For every row, segment by segment, whether it lives and fits."""
    allowed = state.alive
    for condition in conditions:
        if condition.field not in state.fields:
            known = f"there are {', '.join(state.fields)}" if state.fields else "there are none"
            raise InvalidArgumentError(f"no text has the field '{condition.field}': {known}")
        allowed = tuple(
            mask & condition.holds(segment.columns.get(condition.field), len(segment))
            for mask, segment in zip(allowed, state.segments, strict=True)
        )
    return allowed


def by_vector(
    state: State,
    direction: Float32Array,
    k: int,
    allowed: tuple[BoolArray, ...],
    *,
    exact: bool = False,
) -> Ranked:
    """The k rows nearest to a direction of length one, by cosine."""
    counts = state.counts if allowed is state.alive else [int(mask.sum()) for mask in allowed]
    clusters = None if exact else state.clusters
    if clusters and not can_cluster():
        warn(
            "faiss is not installed, so that every vector is looked at: pip install"
            " 'malmoi[search]'"
        )
        clusters = None
    found = []
    for segment, mask, count in zip(state.segments, allowed, counts, strict=True):
        found.append(_best(clusters, segment, direction, k, mask, count))
        clusters = None  # they know the first segment only
    return _merged(found, state.starts, k)


def by_words(state: State, words: Sequence[str], k: int, allowed: tuple[BoolArray, ...]) -> Ranked:
    """The k rows with the highest BM25; only those that have one of the words."""
    return highest_rows(word_scores(state, words, allowed), k)


def word_scores(state: State, words: Sequence[str], allowed: tuple[BoolArray, ...]) -> Float32Array:
    """BM25 of every row; zero where it is not allowed."""
    scores = score_words(state.postings, state.alive, words)
    scores[~np.concatenate(allowed)] = 0
    return scores


def highest_rows(scores: Float32Array, k: int) -> Ranked:
    """The k rows with the highest scores above zero."""
    rows = top_k(scores, k)
    rows = rows[scores[rows] > 0]
    return Ranked(rows, scores[rows])


def first_rows(rows: Int64Array, scores: Float32Array, k: int) -> Ranked:
    """The k best of these rows, equal ones by row."""
    order = np.lexsort((rows, -scores))[:k]
    return Ranked(rows[order], scores[order])


def _best(
    clusters: Clusters | None,
    segment: Segment,
    direction: Float32Array,
    k: int,
    mask: BoolArray,
    count: int,
) -> Ranked:
    """The k texts of a segment whose best passage is nearest; `mask` and `count` are of texts."""
    passages = segment.passages
    if passages is None:
        return _vectors(clusters, segment, direction, k, mask, count)
    every, asked = mask[passages.owners], k
    total = int(every.sum())
    while True:
        found = _vectors(clusters, segment, direction, asked, every, total)
        texts, first = np.unique(passages.owners[found.rows], return_index=True)
        if len(texts) >= min(k, count) or asked >= total:
            break
        asked = min(4 * asked, total)  # many passages of the same texts: look further
    order = np.argsort(first)[:k]
    return Ranked(texts[order], found.scores[first[order]])


def _vectors(
    clusters: Clusters | None,
    segment: Segment,
    direction: Float32Array,
    k: int,
    mask: BoolArray,
    count: int,
) -> Ranked:
    """The k nearest vectors of a segment, of those that the mask lets through."""
    near = _clustered(clusters, segment, direction, k, mask, count) if clusters else None
    return near or _nearest(segment, direction, k, mask, count)


def _clustered(
    clusters: Clusters,
    segment: Segment,
    direction: Float32Array,
    k: int,
    mask: BoolArray,
    count: int,
) -> Ranked | None:
    """The nearest through clusters; None where few rows are allowed, or too few were found."""
    size = len(segment.vectors)
    if count <= FEW * size:
        return None
    rows = clusters.nearest(direction, ceil(k * size / count))
    if count < size:
        rows = rows[mask[rows]]
    return _exactly(segment, direction, k, rows) if len(rows) >= min(k, count) else None


def _nearest(
    segment: Segment, direction: Float32Array, k: int, mask: BoolArray, count: int
) -> Ranked:
    """The k nearest of one segment's rows, exactly."""
    vectors = segment.vectors
    if count == 0:
        return NOTHING
    if count == len(vectors):
        ranking = rank_rows(vectors, direction[np.newaxis], k)
        return Ranked(ranking.rows[0], ranking.scores[0])
    if count <= FEW * len(vectors):
        return _exactly(segment, direction, k, np.flatnonzero(mask))
    near = np.where(mask, all_scores(vectors, direction), np.float32(-np.inf))
    return _exactly(segment, direction, k, top_k(near, min(k, count)))


def _exactly(segment: Segment, direction: Float32Array, k: int, rows: Int64Array) -> Ranked:
    """The k nearest of some rows of a segment."""
    near = _cosines(segment, direction, rows)
    best = (-near).argsort(kind="stable")[:k]
    return Ranked(rows[best], near[best])


def _cosines(segment: Segment, direction: Float32Array, rows: Int64Array) -> Float32Array:
    """Of some rows of a segment's vectors."""
    vectors = segment.vectors
    near: Float32Array = vectors.matrix.take(rows, axis=0) @ direction
    near /= safe_norms(vectors.norms.take(rows))
    return near


def _merged(parts: Sequence[Ranked], starts: Int64Array, k: int) -> Ranked:
    """The best of all segments."""
    if len(parts) == 1:
        return parts[0]
    rows = [part.rows + start for part, start in zip(parts, starts.tolist(), strict=False)]
    together = np.concatenate([NOTHING.rows, *rows])
    scores = np.concatenate([NOTHING.scores, *(part.scores for part in parts)])
    return first_rows(together, scores, k)
