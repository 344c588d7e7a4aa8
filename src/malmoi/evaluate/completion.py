"""The best fourth word of many analogies at once, exactly.

Works on rows alone, knows nothing of words. Unit rows are multiplied in tiles that stay in
the processor's cache; only where a tile holds something better is it looked into.
"""

import numpy as np

from malmoi.files.progress import Progress, silent
from malmoi.query.analogy import EPSILON, Method
from malmoi.query.ranking import Rows, unit
from malmoi.vectors import Matrix

TILE_ROWS, TILE_QUESTIONS = 1024, 1024


def complete(
    matrix: Matrix,
    questions: Rows,
    excluded: Rows,
    method: Method = "add",
    progress: Progress = silent,
) -> Rows:
    """For each question (rows a, b, c: a is to b as c to …) [q, 3] the row that fits best.

    `excluded` [e, 2] are questions with a row that must not answer them. Rows without a
    direction answer nothing; -1 where no row is left.
    """
    asked, places = np.unique(questions, return_inverse=True)
    places = places.reshape(questions.shape)
    directions = unit(matrix[asked])
    best = np.full(len(questions), -np.inf, dtype=np.float32)
    answers = np.full(len(questions), -1, dtype=np.int64)
    parts = [slice(i, i + TILE_QUESTIONS) for i in range(0, len(questions), TILE_QUESTIONS)]
    excluded = excluded[np.lexsort((excluded[:, 0], excluded[:, 1]))]
    for start in range(0, len(matrix), TILE_ROWS):
        block = unit(matrix[start : start + TILE_ROWS])
        nowhere = ~(np.isfinite(block).all(axis=1) & block.any(axis=1))
        block[nowhere] = 0
        forbidden = _between(excluded, start, start + len(block))
        for part in parts:
            near = _SCORES[method](block, directions, places[part])  # [rows, questions]
            near[nowhere] = -np.inf
            mine = forbidden[(forbidden[:, 0] >= part.start) & (forbidden[:, 0] < part.stop)]
            near[mine[:, 1] - start, mine[:, 0] - part.start] = -np.inf
            better = np.flatnonzero(near.max(axis=0) > best[part])
            rows = near[:, better].argmax(axis=0)
            answers[part.start + better] = start + rows
            best[part.start + better] = near[rows, better]
        progress(min(start + TILE_ROWS, len(matrix)), len(matrix))
    return answers


def _added(block: Matrix, directions: Matrix, places: Rows) -> Matrix:
    """3CosAdd: the closeness to b - a + c."""
    a, b, c = places.T
    near: Matrix = block @ (directions[b] - directions[a] + directions[c]).T
    return near


def _multiplied(block: Matrix, directions: Matrix, places: Rows) -> Matrix:
    """3CosMul: closeness to b times closeness to c over closeness to a, all within 0 … 1."""
    a, b, c = places.T
    near = np.maximum((1 + block @ directions.T) / 2, 0)
    below: Matrix = np.reciprocal(near + np.float32(EPSILON))
    return near[:, b] * near[:, c] * below[:, a]


_SCORES = {"add": _added, "multiply": _multiplied}


def _between(excluded: Rows, first: int, last: int) -> Rows:
    """Those whose row lies in a tile."""
    start, stop = np.searchsorted(excluded[:, 1], [first, last])
    return excluded[start:stop]
