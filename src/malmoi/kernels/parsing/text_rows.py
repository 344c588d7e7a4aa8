"""Rows of text, `key number number … \\n`: parses lines to a matrix, formats a matrix as lines."""

import numpy as np

from malmoi.arrays import Float32Array, Int64Array, UInt8Array
from malmoi.kernels.core.checks import ArrayOf, Within, checked, require, require_offsets
from malmoi.kernels.core.jit import jit
from malmoi.kernels.parsing.numbers import format_number, parse_number

FITS, BLANK, MISFIT = 0, 1, 2
MAX_NUMBER_BYTES = 17  # with the space after it
RETURN, TAB = ord("\r"), ord("\t")


@checked(
    text=ArrayOf(np.uint8, "bytes"),
    starts=ArrayOf(np.int64, "lines", up_to="bytes"),
    stops=ArrayOf(np.int64, "lines", up_to="bytes"),
    rows=ArrayOf(np.int64, "lines", below="rows", minimum=-1),
    matrix=ArrayOf(np.float32, "rows", "dim"),
    key_stops=ArrayOf(np.int64, "lines"),
    status=ArrayOf(np.uint8, "lines"),
    first=Within("lines"),
    last=Within("lines"),
)
@jit
def parse_lines(
    text: UInt8Array,
    starts: Int64Array,
    stops: Int64Array,
    rows: Int64Array,
    separator: int,
    keyed: bool,
    matrix: Float32Array,
    key_stops: Int64Array,
    status: UInt8Array,
    first: int,
    last: int,
) -> None:
    """Parse lines `first` to `last`: numbers into row `rows[i]` (-1: too short), key ends too.

    The key is everything before the last `dim` fields; without a key (`keyed` false) there must be
    exactly `dim` fields.
    """
    for i in range(first, last):
        start, stop = starts[i], stops[i]
        while stop > start and (
            text[stop - 1] == separator or text[stop - 1] == RETURN or text[stop - 1] == TAB
        ):
            stop -= 1
        if stop == start or rows[i] < 0:
            status[i] = BLANK if stop == start else MISFIT
            continue
        row = matrix[rows[i]]
        key_stop = start - 1
        if keyed:
            key_stop = start
            while key_stop < stop and text[key_stop] != separator:
                key_stop += 1
        if parse_forward(text, key_stop + 1, stop, separator, row):
            key_stops[i] = key_stop
            status[i] = FITS
        else:
            key_stops[i] = parse_backward(text, start, stop, separator, row)
            status[i] = FITS if keyed and key_stops[i] >= start else MISFIT


@jit
def parse_forward(text: UInt8Array, at: int, stop: int, separator: int, row: Float32Array) -> bool:
    """Parse `text[at:stop]`; whether it holds exactly as many numbers as the row."""
    for j in range(len(row)):
        while j > 0 and at < stop and text[at] == separator:
            at += 1
        value, at = parse_number(text, at, stop)
        if at < 0 or (at < stop and text[at] != separator):
            return False
        row[j] = value
    return at == stop


@jit
def parse_backward(
    text: UInt8Array, start: int, stop: int, separator: int, row: Float32Array
) -> int:
    """Fill the row from the end of the line; returns where the key before it stops, or -1."""
    at = stop
    for j in range(len(row) - 1, -1, -1):
        while at > start and text[at - 1] == separator:
            at -= 1
        end = at
        while at > start and text[at - 1] != separator:
            at -= 1
        value, after = parse_number(text, at, end)
        if after != end or at == start:
            return -1
        row[j] = value
    key_stop = at - 1
    return -1 if ends_in_number(text, start, key_stop, separator) else key_stop


@jit
def ends_in_number(text: UInt8Array, start: int, stop: int, separator: int) -> bool:
    """Whether the last field of the key looks like an excess number of the row.

    That is a number with an exponent or with three digits after the point: `the 0.418`, but not
    `version 2.0`.
    """
    begin = stop
    while begin > start and text[begin - 1] != separator:
        begin -= 1
    if begin == start:
        return False
    _, after = parse_number(text, begin, stop)
    if after != stop:
        return False
    for i in range(begin, stop):
        if (text[i] | 32) == ord("e") or (text[i] == ord(".") and stop - i > 3):
            return True
    return False


@checked(text=ArrayOf(np.uint8, "bytes"), start=Within("bytes"), stop=Within("bytes"))
@jit
def ends_in_component(text: UInt8Array, start: int, stop: int, separator: int) -> bool:
    """`ends_in_number`, for keys to be written."""
    return ends_in_number(text, start, stop, separator)


def _require_lines(
    matrix: Float32Array,
    packed: UInt8Array,
    offsets: Int64Array,
    separator: int,
    out: UInt8Array,
    first: int,
    last: int,
) -> None:
    """Check that all numbers are finite and that `out` holds the longest possible lines."""
    keys = 0
    if len(offsets):
        require(len(offsets) == len(matrix) + 1, f"there are {len(offsets) - 1} keys")
        require_offsets("offsets", offsets[first : last + 1], len(packed))
        keys = int(offsets[last] - offsets[first])
    size = (last - first) * (MAX_NUMBER_BYTES * matrix.shape[1] + 1) + keys
    require(len(out) >= size, f"out has {len(out)} bytes: lines may take {size}")
    require(bool(np.isfinite(matrix[first:last]).all()), "matrix has numbers that are not finite")


@checked(
    _require_lines,
    matrix=ArrayOf(np.float32, "rows", "dim"),
    packed=ArrayOf(np.uint8, "bytes"),
    offsets=ArrayOf(np.int64, "offsets"),
    out=ArrayOf(np.uint8, "output bytes"),
    first=Within("rows"),
    last=Within("rows"),
)
@jit
def format_lines(
    matrix: Float32Array,
    packed: UInt8Array,
    offsets: Int64Array,
    separator: int,
    out: UInt8Array,
    first: int,
    last: int,
) -> int:
    """Format rows `first` to `last` with their keys (none if `offsets` is empty)."""
    at = 0
    for i in range(first, last):
        if len(offsets) > 0:
            for j in range(offsets[i], offsets[i + 1]):
                out[at] = packed[j]
                at += 1
        for j in range(matrix.shape[1]):
            if j > 0 or len(offsets) > 0:
                out[at] = separator
                at += 1
            at = format_number(matrix[i, j], out, at)
        out[at] = ord("\n")
        at += 1
    return at
