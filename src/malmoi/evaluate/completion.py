"""The best fourth word of many analogies at once, exactly.

Works on rows and knows nothing of words. Unit rows are multiplied in tiles that stay in the
processor's cache; a tile is only examined where it holds a better row than those before.
"""

from collections.abc import Callable

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.nearest.top_k import TILE_DIRECTIONS, TILE_ROWS
from malmoi.query.analogy import EPSILON, AnalogyMethod
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import l2_normalize

Scorer = Callable[[Float32Array], Float32Array]  # unit rows [rows, dim] to scores [rows, questions]


def complete_analogies(
    matrix: Float32Array,
    questions: Int64Array,
    excluded: Int64Array,
    method: AnalogyMethod = "add",
    progress: Progress = no_progress,
) -> Int64Array:
    """The best row for each question [q, 3] of rows a, b, c: a is to b as c to …

    `excluded` [e, 2] are pairs of a question and a row that must not answer it. Rows without a
    direction are never an answer; -1 where no row is left.
    """
    excluded = excluded[np.argsort(excluded[:, 1])]
    parts = [
        _Part(matrix, first, questions[first : first + TILE_DIRECTIONS], method)
        for first in range(0, len(questions), TILE_DIRECTIONS)
    ]
    for start in range(0, len(matrix), TILE_ROWS):
        with np.errstate(invalid="ignore"):  # infinite rows have no direction
            block = l2_normalize(matrix[start : start + TILE_ROWS])
        no_direction = np.flatnonzero(~np.isfinite(block).all(axis=1) | ~block.any(axis=1))
        block[no_direction] = 0
        forbidden = _between(excluded, 1, start, start + len(block))
        forbidden = forbidden[np.argsort(forbidden[:, 0])]
        for part in parts:
            part.update(block, start, no_direction, forbidden)
        progress(start + len(block), len(matrix))
    return np.concatenate([part.answers for part in parts] or [np.empty(0, np.int64)])


class _Part:
    """A batch of questions, and the best answers so far."""

    def __init__(
        self, matrix: Float32Array, first: int, questions: Int64Array, method: AnalogyMethod
    ) -> None:
        words, positions = np.unique(questions, return_inverse=True)
        self.first, self.count = first, len(questions)
        self.score = SCORERS[method](
            l2_normalize(matrix[words]), positions.reshape(questions.shape).T
        )
        self.best = np.full(self.count, -np.inf, dtype=np.float32)
        self.answers = np.full(self.count, -1, dtype=np.int64)

    def update(
        self, block: Float32Array, start: int, no_direction: Int64Array, forbidden: Int64Array
    ) -> None:
        """Score the rows from `start` on and keep those that are better."""
        scores = self.score(block)
        scores[no_direction] = -np.inf
        own = _between(forbidden, 0, self.first, self.first + self.count)
        scores[own[:, 1] - start, own[:, 0] - self.first] = -np.inf
        better = np.flatnonzero(scores.max(axis=0) > self.best)
        rows = scores[:, better].argmax(axis=0)
        self.answers[better] = start + rows
        self.best[better] = scores[rows, better]


def _add_scorer(directions: Float32Array, positions: Int64Array) -> Scorer:
    """3CosAdd: the cosine with b - a + c."""
    a, b, c = positions
    targets = (directions[b] - directions[a] + directions[c]).T
    return lambda block: block @ targets


def _multiply_scorer(directions: Float32Array, positions: Int64Array) -> Scorer:
    """3CosMul: cos(b) * cos(c) / cos(a), all shifted to 0 … 1."""
    a, b, c = positions

    def score(block: Float32Array) -> Float32Array:
        cosines = np.maximum((1 + directions @ block.T) / 2, 0)  # [words, rows]
        ratio: Float32Array = cosines[b]
        ratio *= cosines[c]
        ratio *= np.reciprocal(cosines + np.float32(EPSILON))[a]
        return ratio.T

    return score


SCORERS = {"add": _add_scorer, "multiply": _multiply_scorer}


def _between(pairs: Int64Array, column: int, first: int, last: int) -> Int64Array:
    """The pairs with `first` <= value < `last` in an ascending column."""
    start, stop = np.searchsorted(pairs[:, column], [first, last])
    return pairs[start:stop]
