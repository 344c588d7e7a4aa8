"""Hybrid search: the best rows of a state by the weighted sum of cosine and BM25.

Candidates are the first rows of each side. Each of them gets both of its scores, so that no row
counts for less because the other side ranks it low.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from malmoi.arrays import BoolArray, Float32Array, Int64Array
from malmoi.nearest.top_k import safe_norms
from malmoi.search.querying.bm25 import word_weights
from malmoi.search.querying.ranking import (
    EMPTY_RANKING,
    RankedRows,
    best_of,
    by_vector,
    top_rows,
    word_scores,
)
from malmoi.search.storage.fusion import fuse
from malmoi.search.storage.state import State

MIN_CANDIDATES = 100  # candidates of each side, at least


def by_both(
    state: State,
    direction: Float32Array | None,
    words: Sequence[str],
    k: int,
    allowed: tuple[BoolArray, ...],
    *,
    weight: float,
    exact: bool = False,
) -> RankedRows:
    """The k best rows by cosine and BM25; `weight` is that of words, 0 and 1 are one side alone."""
    depth, near, named = max(k, MIN_CANDIDATES), EMPTY_RANKING, EMPTY_RANKING
    scores = word_scores(state, words, allowed)
    if weight < 1 and direction is not None:
        near = by_vector(state, direction, depth, allowed, exact=exact)
    if weight > 0:
        named = top_rows(scores, depth)
    rows = np.union1d(near.rows, named.rows)
    highest = sum(word_weights(state.postings, state.alive, words).values())
    matched = scores[rows] / np.float32(highest or 1)
    cosines = np.zeros(len(rows), np.float32)
    if direction is not None:
        (cosines,) = cosines_of(state, rows, direction[np.newaxis])
    return best_of(rows, fuse(cosines, matched, weight, state.spread), k)


def cosines_of(state: State, rows: Int64Array, directions: Float32Array) -> Float32Array:
    """The cosines of ascending rows with unit directions, [directions, rows].

    The cosine of a text is that of its best passage.
    """
    cosines: Float32Array = np.zeros((len(directions), len(rows)), np.float32)
    bounds = np.searchsorted(rows, state.starts)
    spans = pairwise(bounds.tolist())
    for segment, start, (first, last) in zip(state.segments, state.starts, spans, strict=False):
        if first == last:
            continue
        texts, passages, vectors = rows[first:last] - start, segment.passages, segment.vectors
        own = passages.rows(texts) if passages else texts
        near = directions @ vectors.matrix[own].T
        near /= safe_norms(vectors.norms[own])
        if passages:
            counts = np.diff(passages.bounds)[texts]
            near = np.maximum.reduceat(near, np.cumsum(counts) - counts, axis=1)
        cosines[:, first:last] = near
    return cosines
