"""t-SNE by openTSNE (extra `project`), from exact neighbours and a given beginning.

Each point is drawn to its nearest ones alike, which gives the same pictures as weighting them
by a perplexity (Böhm, Berens & Kobak 2022, "Attraction-repulsion spectrum", section 2).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.extras import require
from malmoi.project.scene import Near
from malmoi.reporting.reporter import Progress, no_progress

LINKS = 15  # nearest points that each is drawn to
EARLY, LATE = 250, 500  # iterations, exaggerated and not
EXAGGERATION = 12
FEW = 2000  # points: fewer are faster by a tree on one thread than by a grid on all
SPREAD, JITTER, TINY = 1e-4, 0.01, 1e-12
TOLD = 10  # iterations between two looks at how far it is


def tsne(
    near: Near, start: Float32Array, *, seed: int = 1, progress: Progress = no_progress
) -> Float32Array:
    """Places [points, 2], found from those of `start`."""
    peer = require("openTSNE", extra="project")
    rows = near.rows[:, : max(1, min(LINKS, len(start) // 3))].astype(np.int64)
    known = peer.nearest_neighbors.PrecomputedNeighbors(rows, np.ones(rows.shape))
    drawn = peer.affinity.Uniform(knn_index=known, k_neighbors=rows.shape[1], n_jobs=-1)
    places = peer.TSNEEmbedding(
        _apart(start, seed),
        drawn,
        negative_gradient_method="bh" if len(start) < FEW else "fft",
        n_jobs=1 if len(start) < FEW else -1,
        random_state=seed,
    )
    total = EARLY + LATE
    told = {"callbacks_every_iters": TOLD, "momentum": 0.8, "inplace": True}
    places.optimize(
        EARLY, exaggeration=EXAGGERATION, callbacks=_telling(progress, 0, total), **told
    )
    places.optimize(LATE, callbacks=_telling(progress, EARLY, total), **told)
    progress(total, total)
    return np.ascontiguousarray(places, dtype=np.float32)


def _telling(progress: Progress, before: int, total: int) -> Callable[..., None]:
    def tell(iteration: int, error: float, places: Any) -> None:
        progress(before + iteration, total)

    return tell


def _apart(start: Float32Array, seed: int) -> npt.NDArray[np.float64]:
    """Where to begin: close together, and equal points moved a little, or they would stay so."""
    chance = np.random.default_rng(seed)
    places = start / max(float(start[:, 0].std()), TINY)
    places += chance.normal(0, JITTER, start.shape)
    return places.astype(np.float64) * SPREAD
