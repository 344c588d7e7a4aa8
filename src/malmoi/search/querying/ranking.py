"""The best rows of a state: by vector, exactly or through clusters; by words."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from malmoi.arrays import BoolArray, Float32Array, Int64Array
from malmoi.errors import warn
from malmoi.nearest.top_k import all_scores, rank_rows, safe_norms, top_k
from malmoi.search.querying.bm25 import score_words
from malmoi.search.querying.filters import Condition
from malmoi.search.storage.clusters import Clusters, can_cluster
from malmoi.search.storage.segment import Segment
from malmoi.search.storage.state import State

GATHER_BELOW = 0.1  # share of allowed rows: fewer are gathered, more are masked


@dataclass(frozen=True, eq=False)
class RankedRows:
    """Rows and their scores, best first."""

    rows: Int64Array
    scores: Float32Array


EMPTY_RANKING = RankedRows(np.empty(0, np.int64), np.empty(0, np.float32))


def allowed_rows(state: State, conditions: Sequence[Condition]) -> tuple[BoolArray, ...]:
    """The mask of living rows that meet all conditions, per segment."""
    allowed = state.alive
    for condition in conditions:
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
) -> RankedRows:
    """The k rows nearest to a direction of length one, by cosine."""
    counts = state.counts if allowed is state.alive else [int(mask.sum()) for mask in allowed]
    clusters = None if exact else state.clusters
    if clusters and not can_cluster():
        warn(
            "faiss is not installed, so that every vector is searched: pip install 'malmoi[search]'"
        )
        clusters = None
    rankings = []
    for segment, mask, count in zip(state.segments, allowed, counts, strict=True):
        rankings.append(_best_texts(clusters, segment, direction, k, mask, count))
        clusters = None  # they know the first segment only
    return _merge(rankings, state.starts, k)


def by_words(
    state: State, words: Sequence[str], k: int, allowed: tuple[BoolArray, ...]
) -> RankedRows:
    """The k rows with the highest BM25; only those that have one of the words."""
    return top_rows(word_scores(state, words, allowed), k)


def word_scores(state: State, words: Sequence[str], allowed: tuple[BoolArray, ...]) -> Float32Array:
    """The BM25 score of every row; zero for rows that are not allowed."""
    scores = score_words(state.postings, state.alive, words)
    scores[~np.concatenate(allowed)] = 0
    return scores


def top_rows(scores: Float32Array, k: int) -> RankedRows:
    """The k rows with the highest scores above zero."""
    rows = top_k(scores, k)
    rows = rows[scores[rows] > 0]
    return RankedRows(rows, scores[rows])


def best_of(rows: Int64Array, scores: Float32Array, k: int) -> RankedRows:
    """The k best of these rows, equal ones by row."""
    order = np.lexsort((rows, -scores))[:k]
    return RankedRows(rows[order], scores[order])


def _best_texts(
    clusters: Clusters | None,
    segment: Segment,
    direction: Float32Array,
    k: int,
    mask: BoolArray,
    count: int,
) -> RankedRows:
    """The k texts of a segment whose best passage is nearest; `mask` and `count` are of texts."""
    passages = segment.passages
    if passages is None:
        return _best_vectors(clusters, segment, direction, k, mask, count)
    every, depth = mask[passages.owners], k
    total = int(every.sum())
    while True:
        ranking = _best_vectors(clusters, segment, direction, depth, every, total)
        texts, first = np.unique(passages.owners[ranking.rows], return_index=True)
        if len(texts) >= min(k, count) or depth >= total:
            break
        depth = min(4 * depth, total)  # many passages of the same texts: search deeper
    order = np.argsort(first)[:k]
    return RankedRows(texts[order], ranking.scores[first[order]])


def _best_vectors(
    clusters: Clusters | None,
    segment: Segment,
    direction: Float32Array,
    k: int,
    mask: BoolArray,
    count: int,
) -> RankedRows:
    """The k nearest vectors of a segment, among those that the mask allows."""
    near = _best_by_clusters(clusters, segment, direction, k, mask, count) if clusters else None
    return near or _best_exactly(segment, direction, k, mask, count)


def _best_by_clusters(
    clusters: Clusters,
    segment: Segment,
    direction: Float32Array,
    k: int,
    mask: BoolArray,
    count: int,
) -> RankedRows | None:
    """The nearest vectors by clusters; None if few rows are allowed or too few are returned."""
    size = len(segment.vectors)
    if count <= GATHER_BELOW * size:
        return None
    rows = clusters.nearest(direction, ceil(k * size / count))
    if count < size:
        rows = rows[mask[rows]]
    return _rank_exactly(segment, direction, k, rows) if len(rows) >= min(k, count) else None


def _best_exactly(
    segment: Segment, direction: Float32Array, k: int, mask: BoolArray, count: int
) -> RankedRows:
    """The k nearest of one segment's rows, exactly."""
    vectors = segment.vectors
    if count == 0:
        return EMPTY_RANKING
    if count == len(vectors):
        ranking = rank_rows(vectors, direction[np.newaxis], k)
        return RankedRows(ranking.rows[0], ranking.scores[0])
    if count <= GATHER_BELOW * len(vectors):
        return _rank_exactly(segment, direction, k, np.flatnonzero(mask))
    near = np.where(mask, all_scores(vectors, direction), np.float32(-np.inf))
    return _rank_exactly(segment, direction, k, top_k(near, min(k, count)))


def _rank_exactly(
    segment: Segment, direction: Float32Array, k: int, rows: Int64Array
) -> RankedRows:
    """The k nearest of some rows of a segment."""
    near = _cosines(segment, direction, rows)
    best = (-near).argsort(kind="stable")[:k]
    return RankedRows(rows[best], near[best])


def _cosines(segment: Segment, direction: Float32Array, rows: Int64Array) -> Float32Array:
    """The cosines of some rows of a segment."""
    vectors = segment.vectors
    near: Float32Array = vectors.matrix.take(rows, axis=0) @ direction
    near /= safe_norms(vectors.norms.take(rows))
    return near


def _merge(parts: Sequence[RankedRows], starts: Int64Array, k: int) -> RankedRows:
    """The best of all segments."""
    if len(parts) == 1:
        return parts[0]
    rows = [part.rows + start for part, start in zip(parts, starts.tolist(), strict=False)]
    together = np.concatenate([EMPTY_RANKING.rows, *rows])
    scores = np.concatenate([EMPTY_RANKING.scores, *(part.scores for part in parts)])
    return best_of(together, scores, k)
