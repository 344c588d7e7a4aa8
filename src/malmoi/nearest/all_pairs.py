"""The best k rows for every row, exactly, by several metrics at once.

Rows are multiplied with rows in square tiles; each product tells two rows how near they are,
by all metrics, so that a matrix is worked through once and by halves.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from malmoi.arrays import Float32Array, Int64Array, UInt32Array
from malmoi.kernels.core.jit import pool
from malmoi.kernels.nearest.pairwise_top_k import offer
from malmoi.kernels.threads import THREADS
from malmoi.nearest.top_k import (
    LARGEST_LENGTH,
    SMALLEST_LENGTH,
    Metric,
    Ranking,
    divisors,
    rescaled,
    score_rows,
)
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors, l2_normalize

TILE = 2048
SPARE = 6  # rows more than asked for: single precision may confuse the last ones
SCORED = 4096  # rows whose scores are computed anew at a time


def rank_each_other(
    vectors: Vectors,
    k: int,
    metrics: Sequence[Metric] = ("cosine", "euclidean"),
    *,
    progress: Progress = no_progress,
) -> Mapping[Metric, Ranking]:
    """The k rows nearest to each row, itself left out; fewer where there are fewer.

    The same as asking `rank_rows` for every row by each metric, several times as fast; but
    of very many rows equally near, any may be named.
    """
    k, found = min(k, len(vectors) - 1), dict[Metric, Ranking]()
    for seen, some in _comparable(vectors, metrics):
        rows = _best_rows(seen, k, some, progress)
        for at, metric in enumerate(some):
            found[metric] = _scored(vectors, rows[at].astype(np.int64), k, metric)
    return found


def _comparable(
    vectors: Vectors, metrics: Sequence[Metric]
) -> list[tuple[Vectors, Sequence[Metric]]]:
    """The vectors for all metrics, or where products of them could overflow, scaled for each."""
    norms = vectors.norms[vectors.norms > 0]
    if np.all((norms > SMALLEST_LENGTH) & (norms < LARGEST_LENGTH)):
        return [(vectors, metrics)]
    units = Vectors(vectors.keys, l2_normalize(vectors.matrix))
    smaller, _ = rescaled(vectors, vectors.matrix[:0])
    return [(units if metric == "cosine" else smaller, [metric]) for metric in metrics]


def _best_rows(
    vectors: Vectors, k: int, metrics: Sequence[Metric], progress: Progress
) -> UInt32Array:
    """The best rows for every row and a few more, [metrics, rows, k + SPARE]."""
    count = len(vectors)
    factor, offset = _weights(vectors, metrics)
    rows = np.zeros((len(metrics), count, min(k + SPARE, count - 1)), dtype=np.uint32)
    scores = np.full(rows.shape, -np.inf, dtype=np.float32)
    least = np.full((len(metrics), count), -np.inf, dtype=np.float32)
    tiles = [(a, b) for a in range(0, count, TILE) for b in range(a, count, TILE)]
    for done, corner in enumerate(tiles):
        progress(done, len(tiles))
        one, other = (slice(start, start + TILE) for start in corner)
        near = vectors.matrix[one] @ vectors.matrix[other].T
        for cells in _apart(near, corner):
            waiting = [
                pool().submit(offer, near, corner, *cell, factor, offset, rows, scores, least)
                for cell in cells
            ]
            for task in waiting:
                task.result()
    progress(len(tiles), len(tiles))
    return rows


def _weights(vectors: Vectors, metrics: Sequence[Metric]) -> tuple[Float32Array, Float32Array]:
    """What a product with a row is multiplied by, and what is taken off; [metrics, rows]."""
    factor = np.ones((len(metrics), len(vectors)), dtype=np.float32)
    offset = np.zeros_like(factor)
    for at, metric in enumerate(metrics):
        if metric == "cosine":
            factor[at] = 1 / divisors(vectors.norms)
        elif metric == "euclidean":
            # Of |d - x|² only 2 d·x - |x|² depends on the row; half of it ranks the same.
            offset[at] = np.float32(0.5) * vectors.norms * vectors.norms
    return factor, offset


Cell = tuple[tuple[int, int], tuple[int, int]]


def _apart(near: Float32Array, corner: tuple[int, int]) -> Iterator[list[Cell]]:
    """The tile in rounds of cells that share neither rows nor columns, one for each thread."""
    spans = [
        [(at + size * t // THREADS, at + size * (t + 1) // THREADS) for t in range(THREADS)]
        for at, size in zip(corner, near.shape, strict=True)
    ]
    for shift in range(THREADS):
        yield [(spans[0][t], spans[1][(t + shift) % THREADS]) for t in range(THREADS)]


def _scored(vectors: Vectors, rows: Int64Array, k: int, metric: Metric) -> Ranking:
    """The k best of the rows found, by scores computed anew."""
    parts = []
    for start in range(0, len(rows), SCORED):
        part = slice(start, start + SCORED)
        asked = vectors.matrix[part]
        asked = l2_normalize(asked) if metric == "cosine" else asked
        parts.append(score_rows(vectors, asked, rows[part], metric))
    return Ranking(
        np.concatenate([part.rows[:, :k] for part in parts]),
        np.concatenate([part.scores[:, :k] for part in parts]),
    )
