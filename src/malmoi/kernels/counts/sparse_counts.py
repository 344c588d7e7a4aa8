"""Sparse counts of ids (words by context words, documents by words), and products with them.

Sparse matrices are in CSR layout: the entries of row i are `columns` and `values` from
`starts[i]` to `starts[i + 1]`, columns ascending.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Float64Array, Int64Array, UInt32Array, UInt64Array
from malmoi.kernels.core.checks import ArrayOf, Offsets, Within, checked, require, require_range
from malmoi.kernels.core.jit import jit, jit_inline
from malmoi.kernels.marks import LINE_END, UNKNOWN

Values = npt.NDArray[Any]  # uint32 or float32

# Index of the lowest set bit: times a de Bruijn sequence, its six highest bits are unique.
DE_BRUIJN = 0x03F79D71B4CB0A89
BIT_INDEX = np.empty(64, dtype=np.int64)
for _bit in range(64):
    BIT_INDEX[(DE_BRUIJN << _bit) % 2**64 >> 58] = _bit


@checked(
    lambda ids, counts: require(
        len(counts) >= 2, "counts needs 2 more entries than words, for the marks"
    ),
    ids=ArrayOf(np.uint32, "ids"),
    counts=ArrayOf(np.int64, "words and marks"),
)
@jit
def count_ids(ids: UInt32Array, counts: Int64Array) -> int:
    """Count each id, UNKNOWN and LINE_END last; returns the position of an invalid id, or -1."""
    words = len(counts) - 2
    for position in range(len(ids)):
        word = np.int64(ids[position])
        if word >= words:
            if word < UNKNOWN:
                return position
            word += words - UNKNOWN
        counts[word] += 1
    return -1


@checked(
    lambda ids, first, last, ends, positions: require(
        0 <= first <= last <= first + len(ends) and len(ends) == last - first,
        f"{len(ends)} ends do not fit words {first} to {last}",
    ),
    ids=ArrayOf(np.uint32, "ids"),
    ends=ArrayOf(np.int64, "words", up_to="positions"),
    positions=ArrayOf((np.uint32, np.int64), "positions"),
)
@jit
def find_positions(
    ids: UInt32Array, first: int, last: int, ends: Int64Array, positions: UInt32Array
) -> None:
    """Write the positions of words `first` to `last`; advances `ends` from each word's start."""
    for position in range(len(ids)):
        word = np.int64(ids[position])
        if first <= word < last:
            if ends[word - first] >= len(positions):
                raise ValueError("find_positions: a word occurs more often than it was counted")
            positions[ends[word - first]] = position
            ends[word - first] += 1


def _require_contexts(
    ids: UInt32Array,
    positions: UInt32Array,
    bounds: Int64Array,
    weights: Float64Array,
    left: bool,
    right: bool,
    sums: Float64Array,
    marks: UInt64Array,
    columns: UInt32Array,
    values: Values,
    starts: Int64Array,
) -> None:
    """Check the positions, and that the buffers hold all possible context words of each word."""
    require_range("positions", positions[bounds[0] : bounds[-1]], 0, len(ids))
    require(len(weights) > 0, "weights is empty: it begins with the weight of distance 0")
    require(len(marks) * 64 >= len(sums), f"{len(marks)} marks are too few for {len(sums)} words")
    reach = (int(left) + int(right)) * (len(weights) - 1)
    needed = int(np.minimum(np.diff(bounds) * reach, len(sums)).sum())
    size = len(columns) - int(starts[0])
    require(starts[0] >= 0 and size >= needed, f"columns has {size} entries, of {needed} needed")


@checked(
    _require_contexts,
    ids=ArrayOf(np.uint32, "ids"),
    positions=ArrayOf((np.uint32, np.int64), "positions"),
    bounds=Offsets("rows", into="positions"),
    weights=ArrayOf(np.float64, "distances"),
    sums=ArrayOf(np.float64, "words"),
    marks=ArrayOf(np.uint64, "marks"),
    columns=ArrayOf(np.uint32, "entries"),
    values=ArrayOf((np.uint32, np.float32), "entries"),
    starts=ArrayOf(np.int64, "rows + 1"),
)
@jit
def count_rows(
    ids: UInt32Array,
    positions: UInt32Array,
    bounds: Int64Array,
    weights: Float64Array,
    left: bool,
    right: bool,
    sums: Float64Array,
    marks: UInt64Array,
    columns: UInt32Array,
    values: Values,
    starts: Int64Array,
) -> None:
    """Count the contexts of the words at `positions`, one row per span of `bounds`.

    A context at distance d adds `weights[d]`. `sums` and `marks` are zero before and after.
    """
    window = len(weights) - 1
    for row in range(len(bounds) - 1):
        for i in range(bounds[row], bounds[row + 1]):
            position = int(np.int64(positions[i]))
            if left:
                add_contexts(ids, position, -1, min(window, position), weights, sums, marks)
            if right:
                reach = min(window, len(ids) - 1 - position)
                add_contexts(ids, position, 1, reach, weights, sums, marks)
        starts[row + 1] = flush_row(sums, marks, columns, values, starts[row])


@jit_inline
def add_contexts(
    ids: UInt32Array,
    position: int,
    step: int,
    reach: int,
    weights: Float64Array,
    sums: Float64Array,
    marks: UInt64Array,
) -> None:
    """Add the contexts of `ids[position]` on one side, up to the end of the line."""
    words = len(sums)
    for distance in range(1, reach + 1):
        context = ids[position + step * distance]
        if context >= words:
            if context == LINE_END:
                break
            continue
        sums[context] += weights[distance]
        # Unconditional: setting a bit again costs less than a mispredicted branch.
        marks[context >> 6] |= np.uint64(1) << np.uint64(context & 63)


@jit
def flush_row(
    sums: Float64Array, marks: UInt64Array, columns: UInt32Array, values: Values, end: int
) -> int:
    """Append all marked sums as a row, columns ascending, and clear them; returns the end."""
    for i in range(len(marks)):
        bits = marks[i]
        if bits == 0:
            continue
        marks[i] = 0
        while bits != 0:
            lowest = bits & (~bits + np.uint64(1))
            column = i * 64 + BIT_INDEX[(lowest * np.uint64(DE_BRUIJN)) >> np.uint64(58)]
            columns[end] = column
            values[end] = sums[column]
            sums[column] = 0
            bits ^= lowest
            end += 1
    return end


def _require_documents(
    ids: UInt32Array, words: int, columns: UInt32Array, values: Float32Array, starts: Int64Array
) -> None:
    seen = int(np.count_nonzero(ids < words))
    require(len(columns) >= seen, f"columns has {len(columns)} entries, of {seen} needed")
    require(len(starts) > 0 and starts[0] == 0, "starts does not begin with 0")


@checked(
    _require_documents,
    ids=ArrayOf(np.uint32, "ids"),
    columns=ArrayOf(np.uint32, "entries"),
    values=ArrayOf(np.float32, "entries"),
    starts=ArrayOf(np.int64, "lines + 1"),
)
@jit
def count_documents(
    ids: UInt32Array, words: int, columns: UInt32Array, values: Float32Array, starts: Int64Array
) -> None:
    """Count each word in each line, one row per line."""
    line = end = 0
    for position in range(len(ids) + 1):
        if position < len(ids) and ids[position] < words:
            columns[end] = ids[position]
            end += 1
        elif position == len(ids) or ids[position] == LINE_END:
            if line == len(starts) - 1:
                return
            columns[starts[line] : end].sort()
            end = merge_equal(columns, values, starts[line], end)
            line += 1
            starts[line] = end


@jit
def merge_equal(columns: UInt32Array, values: Float32Array, start: int, stop: int) -> int:
    """Merge equal sorted columns into one entry with their count; returns the new end."""
    end = start
    for i in range(start, stop):
        if end > start and columns[end - 1] == columns[i]:
            values[end - 1] += 1
        else:
            columns[end] = columns[i]
            values[end] = 1
            end += 1
    return end


@checked(
    starts=Offsets("rows", into="entries"),
    columns=ArrayOf(np.uint32, "entries", below="width"),
    values=ArrayOf(np.float32, "entries"),
    dense=ArrayOf(np.float32, "width", "dim"),
    product=ArrayOf(np.float32, "rows", "dim"),
    gram=ArrayOf(np.float32, "width", "dim"),
    first=Within("rows"),
    last=Within("rows"),
)
@jit
def multiply_twice(
    starts: Int64Array,
    columns: UInt32Array,
    values: Float32Array,
    dense: Float32Array,
    product: Float32Array,
    gram: Float32Array,
    first: int,
    last: int,
) -> None:
    """product = sparse · dense and gram += sparseᵀ · product, rows `first` to `last` of sparse."""
    width = dense.shape[1]
    sums = np.empty(width, dtype=np.float32)
    for row in range(first, last):
        sums[:] = 0
        for i in range(starts[row], starts[row + 1]):
            column, value = columns[i], values[i]
            for j in range(width):
                sums[j] += value * dense[column, j]
        product[row, :] = sums
        for i in range(starts[row], starts[row + 1]):
            column, value = columns[i], values[i]
            for j in range(width):
                gram[column, j] += value * sums[j]
