"""t-SNE by openTSNE (extra `project`), from exact neighbours and initial coordinates.

Each point is attracted equally by its nearest points, which gives the same pictures as weighting
them by a perplexity (Böhm, Berens & Kobak 2022, "Attraction-repulsion spectrum", section 2).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.extras import require
from malmoi.project.scene import Near
from malmoi.reporting.reporter import Progress, no_progress

NEIGHBOURS = 15  # that attract a point
EARLY_ITERATIONS, LATE_ITERATIONS = 250, 500  # with exaggeration and without
EXAGGERATION = 12
BARNES_HUT_BELOW = 2000  # points: one thread is faster than FFT on all
SPREAD, JITTER, MIN_STD = 1e-4, 0.01, 1e-12
CALLBACK_EVERY = 10  # iterations


def tsne(
    near: Near, start: Float32Array, *, seed: int = 1, progress: Progress = no_progress
) -> Float32Array:
    """Coordinates [points, 2], optimized from those of `start`."""
    peer = require("openTSNE", extra="project")
    rows = near.rows[:, : max(1, min(NEIGHBOURS, len(start) // 3))].astype(np.int64)
    known = peer.nearest_neighbors.PrecomputedNeighbors(rows, np.ones(rows.shape))
    affinities = peer.affinity.Uniform(knn_index=known, k_neighbors=rows.shape[1], n_jobs=-1)
    embedding = peer.TSNEEmbedding(
        _initial_coords(start, seed),
        affinities,
        negative_gradient_method="bh" if len(start) < BARNES_HUT_BELOW else "fft",
        n_jobs=1 if len(start) < BARNES_HUT_BELOW else -1,
        random_state=seed,
    )
    total = EARLY_ITERATIONS + LATE_ITERATIONS
    options = {"callbacks_every_iters": CALLBACK_EVERY, "momentum": 0.8, "inplace": True}
    embedding.optimize(
        EARLY_ITERATIONS,
        exaggeration=EXAGGERATION,
        callbacks=_callback(progress, 0, total),
        **options,
    )
    embedding.optimize(
        LATE_ITERATIONS, callbacks=_callback(progress, EARLY_ITERATIONS, total), **options
    )
    progress(total, total)
    return np.ascontiguousarray(embedding, dtype=np.float32)


def _callback(progress: Progress, before: int, total: int) -> Callable[..., None]:
    def report(iteration: int, error: float, embedding: Any) -> None:
        progress(before + iteration, total)

    return report


def _initial_coords(start: Float32Array, seed: int) -> npt.NDArray[np.float64]:
    """Small initial coordinates with jitter, which separates equal points."""
    random = np.random.default_rng(seed)
    embedding = start / max(float(start[:, 0].std()), MIN_STD)
    embedding += random.normal(0, JITTER, start.shape)
    return embedding.astype(np.float64) * SPREAD
