"""The best fourth word of many analogies at once, exactly.

Works on rows alone, knows nothing of words. Unit rows are multiplied in tiles that stay in
the processor's cache; only where a tile holds something better is it looked into.
"""

from collections.abc import Callable

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.nearest.top_k import TILE_DIRECTIONS, TILE_ROWS
from malmoi.query.analogy import EPSILON, Method
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import l2_normalize

Scoring = Callable[
    [Float32Array], Float32Array
]  # unit rows [rows, dim] to scores [rows, questions]


def complete(
    matrix: Float32Array,
    questions: Int64Array,
    excluded: Int64Array,
    method: Method = "add",
    progress: Progress = no_progress,
) -> Int64Array:
    """For each question (rows a, b, c: a is to b as c to …) [q, 3] the row that fits best.

    `excluded` [e, 2] are questions with a row that must not answer them. Rows without a
    direction answer nothing; -1 where no row is left.
    """
    excluded = excluded[np.argsort(excluded[:, 1])]
    parts = [
        _Part(matrix, first, questions[first : first + TILE_DIRECTIONS], method)
        for first in range(0, len(questions), TILE_DIRECTIONS)
    ]
    for start in range(0, len(matrix), TILE_ROWS):
        with np.errstate(invalid="ignore"):  # infinite numbers have no direction
            block = l2_normalize(matrix[start : start + TILE_ROWS])
        nowhere = np.flatnonzero(~np.isfinite(block).all(axis=1) | ~block.any(axis=1))
        block[nowhere] = 0
        forbidden = _between(excluded, 1, start, start + len(block))
        forbidden = forbidden[np.argsort(forbidden[:, 0])]
        for part in parts:
            part.offer(block, start, nowhere, forbidden)
        progress(start + len(block), len(matrix))
    return np.concatenate([part.answers for part in parts] or [np.empty(0, np.int64)])


class _Part:
    """Some of the questions, and the best answers so far."""

    def __init__(
        self, matrix: Float32Array, first: int, questions: Int64Array, method: Method
    ) -> None:
        words, places = np.unique(questions, return_inverse=True)
        self.first, self.count = first, len(questions)
        self.score = SCORINGS[method](
            l2_normalize(matrix[words]), places.reshape(questions.shape).T
        )
        self.best = np.full(self.count, -np.inf, dtype=np.float32)
        self.answers = np.full(self.count, -1, dtype=np.int64)

    def offer(
        self, block: Float32Array, start: int, nowhere: Int64Array, forbidden: Int64Array
    ) -> None:
        """Rows from `start` on."""
        near = self.score(block)
        near[nowhere] = -np.inf
        mine = _between(forbidden, 0, self.first, self.first + self.count)
        near[mine[:, 1] - start, mine[:, 0] - self.first] = -np.inf
        better = np.flatnonzero(near.max(axis=0) > self.best)
        rows = near[:, better].argmax(axis=0)
        self.answers[better] = start + rows
        self.best[better] = near[rows, better]


def _adding(directions: Float32Array, places: Int64Array) -> Scoring:
    """3CosAdd: the closeness to b - a + c."""
    a, b, c = places
    targets = (directions[b] - directions[a] + directions[c]).T
    return lambda block: block @ targets


def _multiplying(directions: Float32Array, places: Int64Array) -> Scoring:
    """3CosMul: closeness to b times closeness to c over closeness to a, all within 0 … 1."""
    a, b, c = places

    def score(block: Float32Array) -> Float32Array:
        near = np.maximum((1 + directions @ block.T) / 2, 0)  # [words, rows]
        ratio: Float32Array = near[b]
        ratio *= near[c]
        ratio *= np.reciprocal(near + np.float32(EPSILON))[a]
        return ratio.T

    return score


SCORINGS = {"add": _adding, "multiply": _multiplying}


def _between(pairs: Int64Array, column: int, first: int, last: int) -> Int64Array:
    """Those with a number from `first` to below `last` in a column that ascends."""
    start, stop = np.searchsorted(pairs[:, column], [first, last])
    return pairs[start:stop]
