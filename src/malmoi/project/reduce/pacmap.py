"""PaCMAP (extra `project`), from exact neighbours and initial coordinates."""

import io
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.extras import require
from malmoi.project.scene import Near
from malmoi.reporting.reporter import Progress, no_progress

NEIGHBOURS = 10  # that attract a point
ITERATIONS = (100, 100, 250)  # of the three published phases
LOGGER = "pacmap.pacmap"


def pacmap(
    matrix: Float32Array,
    near: Near,
    start: Float32Array,
    *,
    seed: int = 1,
    progress: Progress = no_progress,
) -> Float32Array:
    """Coordinates [points, 2 or 3], optimized from those of `start`."""
    with _quiet():
        peer = require("pacmap", extra="project")
        points = len(matrix)
        k = max(1, min(NEIGHBOURS, near.rows.shape[1], (points - 1) // 4))
        pairs = np.column_stack([np.repeat(np.arange(points), k), near.rows[:, :k].ravel()])
        model = peer.PaCMAP(
            n_components=start.shape[1],
            n_neighbors=k,
            pair_neighbors=pairs.astype(np.int32),
            num_iters=ITERATIONS,
            apply_pca=False,
            random_state=seed,
            verbose=True,
        )
        # PaCMAP computes components of its own first, though it does not need them.
        missing = max(0, start.shape[1] - matrix.shape[1])
        matrix = np.pad(matrix, ((0, 0), (0, missing))) if missing else matrix
        with redirect_stdout(_ProgressParser(progress)):
            coords = model.fit_transform(matrix, init=start)
    return np.ascontiguousarray(coords, dtype=np.float32)


class _ProgressParser(io.StringIO):
    """Reads the progress that PaCMAP prints: `Iteration:   10, Loss: …`."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.progress = progress

    def write(self, text: str) -> int:
        """Report the iteration of a printed line."""
        if match := re.match(r"Iteration:\s*(\d+)", text):
            self.progress(int(match[1]), sum(ITERATIONS))
        return len(text)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence PaCMAP's warnings about the seed, three dimensions and precomputed neighbours."""
    logger = logging.getLogger(LOGGER)
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
