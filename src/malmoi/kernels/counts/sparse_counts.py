"""Sparse counts of ids: words beside words, words in documents; and products with such counts.

A sparse matrix is its rows end to end: the entries of row i are `columns` and `values` from
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

# The number of a lowest bit: multiplied by a de Bruijn sequence, its six highest bits differ.
SEQUENCE = 0x03F79D71B4CB0A89
BIT_OF = np.empty(64, dtype=np.int64)
for _bit in range(64):
    BIT_OF[(SEQUENCE << _bit) % 2**64 >> 58] = _bit


@checked(
    lambda ids, counts: require(len(counts) >= 2, "counts has no places for the marks"),
    ids=ArrayOf(np.uint32, "ids"),
    counts=ArrayOf(np.int64, "words and marks"),
)
@jit
def count_ids(ids: UInt32Array, counts: Int64Array) -> int:
    """How often each id stands there, UNKNOWN and LINE_END last; where one is too large, or -1."""
    words = len(counts) - 2
    for at in range(len(ids)):
        word = np.int64(ids[at])
        if word >= words:
            if word < UNKNOWN:
                return at
            word += words - UNKNOWN
        counts[word] += 1
    return -1


@checked(
    lambda ids, first, last, ends, positions: require(
        0 <= first <= last <= first + len(ends) and len(ends) == last - first,
        f"there are {len(ends)} ends for words {first} to {last}",
    ),
    ids=ArrayOf(np.uint32, "ids"),
    ends=ArrayOf(np.int64, "words", up_to="positions"),
    positions=ArrayOf((np.uint32, np.int64), "positions"),
)
@jit
def find_positions(
    ids: UInt32Array, first: int, last: int, ends: Int64Array, positions: UInt32Array
) -> None:
    """Where the words `first` to `last` stand, word by word; `ends` goes from start to end."""
    for at in range(len(ids)):
        word = np.int64(ids[at])
        if first <= word < last:
            if ends[word - first] >= len(positions):
                raise ValueError("find_positions: a word is there more often than it was counted")
            positions[ends[word - first]] = at
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
    """Positions that there are, and places for all words that can stand beside each word."""
    require_range("positions", positions[bounds[0] : bounds[-1]], 0, len(ids))
    require(len(weights) > 0, "weights is empty: it begins with the weight of distance 0")
    require(len(marks) * 64 >= len(sums), f"{len(marks)} marks are too few for {len(sums)} words")
    reach = (int(left) + int(right)) * (len(weights) - 1)
    most = int(np.minimum(np.diff(bounds) * reach, len(sums)).sum())
    room = len(columns) - int(starts[0])
    require(starts[0] >= 0 and room >= most, f"columns has {room} places: rows may take {most}")


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
    """The contexts of the words that stand at `positions`, a row for each span of `bounds`.

    A context at distance d adds `weights[d]`. `sums` and `marks` are zero, and are so again.
    """
    window = len(weights) - 1
    for row in range(len(bounds) - 1):
        for i in range(bounds[row], bounds[row + 1]):
            at = int(np.int64(positions[i]))
            if left:
                add_contexts(ids, at, -1, min(window, at), weights, sums, marks)
            if right:
                add_contexts(ids, at, 1, min(window, len(ids) - 1 - at), weights, sums, marks)
        starts[row + 1] = take_row(sums, marks, columns, values, starts[row])


@jit_inline
def add_contexts(
    ids: UInt32Array,
    at: int,
    step: int,
    reach: int,
    weights: Float64Array,
    sums: Float64Array,
    marks: UInt64Array,
) -> None:
    """Add what stands beside `ids[at]` on one side, up to the end of the line."""
    words = len(sums)
    for distance in range(1, reach + 1):
        context = ids[at + step * distance]
        if context >= words:
            if context == LINE_END:
                break
            continue
        sums[context] += weights[distance]
        # Unasked: a bit set again costs less than a branch that is guessed wrong.
        marks[context >> 6] |= np.uint64(1) << np.uint64(context & 63)


@jit
def take_row(
    sums: Float64Array, marks: UInt64Array, columns: UInt32Array, values: Values, at: int
) -> int:
    """Move all marked sums to the end of the rows, columns ascending; returns the new end."""
    for i in range(len(marks)):
        bits = marks[i]
        if bits == 0:
            continue
        marks[i] = 0
        while bits != 0:
            lowest = bits & (~bits + np.uint64(1))
            column = i * 64 + BIT_OF[(lowest * np.uint64(SEQUENCE)) >> np.uint64(58)]
            columns[at] = column
            values[at] = sums[column]
            sums[column] = 0
            bits ^= lowest
            at += 1
    return at


def _require_documents(
    ids: UInt32Array, words: int, columns: UInt32Array, values: Float32Array, starts: Int64Array
) -> None:
    seen = int(np.count_nonzero(ids < words))
    require(len(columns) >= seen, f"columns has {len(columns)} places for {seen} words")
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
    """How often each word stands in each line, a row for each."""
    line = end = 0
    for at in range(len(ids) + 1):
        if at < len(ids) and ids[at] < words:
            columns[end] = ids[at]
            end += 1
        elif at == len(ids) or ids[at] == LINE_END:
            if line == len(starts) - 1:
                return
            columns[starts[line] : end].sort()
            end = merge_equal(columns, values, starts[line], end)
            line += 1
            starts[line] = end


@jit
def merge_equal(columns: UInt32Array, values: Float32Array, start: int, stop: int) -> int:
    """Count what is equal among sorted columns and close the gaps; returns the new end."""
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
