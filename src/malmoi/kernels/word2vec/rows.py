"""Functions of several rows of a matrix: their mean, and one update for all of them.

These are plain loops; `simd_rows` is the SIMD version.
"""

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.kernels.core.checks import ArrayOf, Offsets, Within, checked
from malmoi.kernels.core.jit import jit, jit_inline
from malmoi.kernels.core.llvm import CACHE_LINE_BYTES

FLOATS_PER_LINE = CACHE_LINE_BYTES // 4


@jit_inline
def mean_of_rows(matrix: Float32Array, rows: Int32Array, out: Float32Array) -> None:
    """out = the mean of these rows."""
    for k in range(len(out)):
        out[k] = 0
    for i in range(len(rows)):
        row = matrix[rows[i]]
        for k in range(len(out)):
            out[k] += row[k]
    share = np.float32(1 / len(rows))
    for k in range(len(out)):
        out[k] *= share


@jit_inline
def weighted_mean(
    matrix: Float32Array, rows: Int32Array, weights: Float32Array, out: Float32Array
) -> None:
    """out = the weighted mean of these rows."""
    total = np.float32(0)
    for k in range(len(out)):
        out[k] = 0
    for i in range(len(rows)):
        row, weight = matrix[rows[i]], weights[i]
        total += weight
        for k in range(len(out)):
            out[k] += weight * row[k]
    share = np.float32(1) / total
    for k in range(len(out)):
        out[k] *= share


@jit_inline
def move_rows(matrix: Float32Array, rows: Int32Array, move: Float32Array) -> None:
    """Add `move` to each of these rows."""
    for i in range(len(rows)):
        row = matrix[rows[i]]
        for k in range(len(move)):
            row[k] += move[k]


@checked(
    matrix=ArrayOf(np.float32, "inputs", "width"),
    starts=Offsets("words", into="entries"),
    rows=ArrayOf(np.int32, "entries", below="inputs"),
    out=ArrayOf(np.float32, "words", "width"),
    first=Within("words"),
    last=Within("words"),
)
@jit
def mean_rows(
    matrix: Float32Array,
    starts: Int64Array,
    rows: Int32Array,
    out: Float32Array,
    first: int,
    last: int,
) -> None:
    """out[i] = the mean of `rows[starts[i] : starts[i + 1]]` of a matrix, for some i."""
    for i in range(first, last):
        mean_of_rows(matrix, rows[starts[i] : starts[i + 1]], out[i])


@checked(
    starts=Offsets("words", into="entries"),
    rows=ArrayOf(np.int32, "entries"),
    shares=ArrayOf(np.float32, "words"),
)
@jit
def measure_repeats(starts: Int64Array, rows: Int32Array, shares: npt.NDArray[np.float32]) -> None:
    """Set how far rows move for their mean to move by 1: Σ m / Σ m² for rows listed m times."""
    for i in range(len(shares)):
        sorted_rows = np.sort(rows[starts[i] : starts[i + 1]])
        squares = run = 0
        for j in range(len(sorted_rows)):
            run = run + 1 if j > 0 and sorted_rows[j] == sorted_rows[j - 1] else 1
            squares += 2 * run - 1  # m² is the sum of the first m odd numbers
        shares[i] = len(sorted_rows) / max(squares, 1)


def aligned_rows(rows: int, width: int) -> Float32Array:
    """Return zeros [rows, width] that start at a cache line."""
    buffer = np.zeros(rows * width + FLOATS_PER_LINE, np.float32)
    first = -buffer.ctypes.data % CACHE_LINE_BYTES // 4
    return buffer[first : first + rows * width].reshape(rows, width)


def padded_width(dim: int) -> int:
    """Return `dim` rounded up to whole cache lines."""
    return -(-dim // FLOATS_PER_LINE) * FLOATS_PER_LINE
