"""The top k rows for every row, exactly, by several metrics at once.

Rows are multiplied with rows in square tiles. The score is symmetric, so each product serves two
rows and all metrics, and only half of the tiles are computed.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from malmoi.arrays import Float32Array, Int64Array, UInt32Array
from malmoi.kernels.core.jit import pool
from malmoi.kernels.nearest.pairwise_top_k import update_top_k
from malmoi.kernels.threads import THREADS
from malmoi.nearest.top_k import (
    LARGEST_LENGTH,
    SMALLEST_LENGTH,
    Metric,
    Ranking,
    rescale,
    safe_norms,
    score_rows,
)
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors, l2_normalize

TILE_ROWS = 2048
SPARE_ROWS = 6  # beyond k: single precision may confuse the last ones
RESCORE_ROWS = 4096  # rows whose scores are recomputed at a time


def rank_all_pairs(
    vectors: Vectors,
    k: int,
    metrics: Sequence[Metric] = ("cosine", "euclidean"),
    *,
    progress: Progress = no_progress,
) -> Mapping[Metric, Ranking]:
    """The k nearest rows of each row, without the row itself; fewer where there are fewer.

    Equal to `rank_rows` for every row and metric, but several times as fast. Among very many
    equally near rows the choice is arbitrary.
    """
    k, rankings = min(k, len(vectors) - 1), dict[Metric, Ranking]()
    for scaled, group in _comparable(vectors, metrics):
        rows = _best_rows(scaled, k, group, progress)
        for i, metric in enumerate(group):
            rankings[metric] = _rescored(vectors, rows[i].astype(np.int64), k, metric)
    return rankings


def _comparable(
    vectors: Vectors, metrics: Sequence[Metric]
) -> list[tuple[Vectors, Sequence[Metric]]]:
    """The vectors for all metrics; where products could overflow, rescaled for each metric."""
    norms = vectors.norms[vectors.norms > 0]
    if np.all((norms > SMALLEST_LENGTH) & (norms < LARGEST_LENGTH)):
        return [(vectors, metrics)]
    units = Vectors(vectors.keys, l2_normalize(vectors.matrix))
    smaller, _ = rescale(vectors, vectors.matrix[:0])
    return [(units if metric == "cosine" else smaller, [metric]) for metric in metrics]


def _best_rows(
    vectors: Vectors, k: int, metrics: Sequence[Metric], progress: Progress
) -> UInt32Array:
    """The best rows for every row and some spare ones, [metrics, rows, k + SPARE_ROWS]."""
    count = len(vectors)
    factor, offset = _weights(vectors, metrics)
    rows = np.zeros((len(metrics), count, min(k + SPARE_ROWS, count - 1)), dtype=np.uint32)
    scores = np.full(rows.shape, -np.inf, dtype=np.float32)
    least = np.full((len(metrics), count), -np.inf, dtype=np.float32)
    tiles = [(a, b) for a in range(0, count, TILE_ROWS) for b in range(a, count, TILE_ROWS)]
    for done, corner in enumerate(tiles):
        progress(done, len(tiles))
        left, right = (slice(start, start + TILE_ROWS) for start in corner)
        products = vectors.matrix[left] @ vectors.matrix[right].T
        for cells in _disjoint_cells(products, corner):
            tasks = [
                pool().submit(
                    update_top_k, products, corner, *cell, factor, offset, rows, scores, least
                )
                for cell in cells
            ]
            for task in tasks:
                task.result()
    progress(len(tiles), len(tiles))
    return rows


def _weights(vectors: Vectors, metrics: Sequence[Metric]) -> tuple[Float32Array, Float32Array]:
    """Score = product * factor - offset, both [metrics, rows]."""
    factor = np.ones((len(metrics), len(vectors)), dtype=np.float32)
    offset = np.zeros_like(factor)
    for i, metric in enumerate(metrics):
        if metric == "cosine":
            factor[i] = 1 / safe_norms(vectors.norms)
        elif metric == "euclidean":
            # |d - x|² ranks rows like |x|²/2 - d·x: |d|² is the same for all of them.
            offset[i] = np.float32(0.5) * vectors.norms * vectors.norms
    return factor, offset


Cell = tuple[tuple[int, int], tuple[int, int]]


def _disjoint_cells(products: Float32Array, corner: tuple[int, int]) -> Iterator[list[Cell]]:
    """The tile in rounds of cells that share neither rows nor columns, one cell per thread."""
    spans = [
        [(first + size * t // THREADS, first + size * (t + 1) // THREADS) for t in range(THREADS)]
        for first, size in zip(corner, products.shape, strict=True)
    ]
    for shift in range(THREADS):
        yield [(spans[0][t], spans[1][(t + shift) % THREADS]) for t in range(THREADS)]


def _rescored(vectors: Vectors, rows: Int64Array, k: int, metric: Metric) -> Ranking:
    """The k best of the candidate rows, by scores recomputed in double precision."""
    parts = []
    for start in range(0, len(rows), RESCORE_ROWS):
        part = slice(start, start + RESCORE_ROWS)
        queries = vectors.matrix[part]
        queries = l2_normalize(queries) if metric == "cosine" else queries
        parts.append(score_rows(vectors, queries, rows[part], metric))
    return Ranking(
        np.concatenate([part.rows[:, :k] for part in parts]),
        np.concatenate([part.scores[:, :k] for part in parts]),
    )
