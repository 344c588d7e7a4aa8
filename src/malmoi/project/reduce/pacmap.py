"""PaCMAP by its authors' package (extra `project`), from exact neighbours and a given beginning."""

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

LINKS = 10  # nearest points that each is drawn to
ITERATIONS = (100, 100, 250)  # as published: nearer pairs count more from phase to phase
PEER = "pacmap.pacmap"


def pacmap(
    matrix: Float32Array,
    near: Near,
    start: Float32Array,
    *,
    seed: int = 1,
    progress: Progress = no_progress,
) -> Float32Array:
    """Places [points, 2 or 3], found from those of `start`."""
    with _quiet():
        peer = require("pacmap", extra="project")
        points = len(matrix)
        k = max(1, min(LINKS, near.rows.shape[1], (points - 1) // 4))
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
        # It looks for components of its own first, though it does not need them.
        missing = max(0, start.shape[1] - matrix.shape[1])
        matrix = np.pad(matrix, ((0, 0), (0, missing))) if missing else matrix
        with redirect_stdout(_Said(progress)):
            places = model.fit_transform(matrix, init=start)
    return np.ascontiguousarray(places, dtype=np.float32)


class _Said(io.StringIO):
    """PaCMAP says how far it is by printing: `Iteration:   10, Loss: …`."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.progress = progress

    def write(self, text: str) -> int:
        """Hear what is printed."""
        if said := re.match(r"Iteration:\s*(\d+)", text):
            self.progress(int(said[1]), sum(ITERATIONS))
        return len(text)


@contextmanager
def _quiet() -> Iterator[None]:
    """It warns of being given a seed, of three dimensions, and of neighbours it need not find."""
    logger = logging.getLogger(PEER)
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
