"""Binary rows of a key and its numbers: word2vec's rows and fastText's dictionary."""

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Int64Array, UInt8Array
from malmoi.kernels.core.checks import ArrayOf, Within, checked, require
from malmoi.kernels.core.jit import jit

NEWLINE, SPACE = ord("\n"), ord(" ")


def _require_width(text: UInt8Array, width: int, rows: UInt8Array, *others: object) -> None:
    require(width == rows.shape[1], f"width is {width}: rows have {rows.shape[1]} bytes")


@checked(
    _require_width,
    text=ArrayOf(np.uint8, "bytes"),
    rows=ArrayOf(np.uint8, "rows", "width"),
    key_starts=ArrayOf(np.int64, "rows"),
    key_stops=ArrayOf(np.int64, "rows"),
)
@jit
def scan_word2vec(
    text: UInt8Array,
    width: int,
    rows: UInt8Array,
    key_starts: Int64Array,
    key_stops: Int64Array,
    max_key_bytes: int,
) -> tuple[int, int]:
    """Copy the floats of all complete rows in `text` into `rows` [n, width].

    Returns the number of rows and the position after the last; the number is negative if a key
    of more than `max_key_bytes` shows that the file is of another format.
    """
    position = 0
    for i in range(len(rows)):
        start = position
        while start < len(text) and text[start] == NEWLINE:
            start += 1
        stop = start
        while stop < len(text) and text[stop] != SPACE and stop - start <= max_key_bytes:
            stop += 1
        if stop - start > max_key_bytes:
            return -i - 1, position
        if stop + 1 + width > len(text):
            return i, position
        rows[i, :] = text[stop + 1 : stop + 1 + width]
        key_starts[i], key_stops[i] = start, stop
        position = stop + 1 + width
    return len(rows), position


@checked(
    text=ArrayOf(np.uint8, "bytes"),
    at=Within("bytes"),
    starts=ArrayOf(np.int64, "entries"),
    stops=ArrayOf(np.int64, "entries"),
    counts=ArrayOf(np.int64, "entries"),
    labels=ArrayOf(np.bool_, "entries"),
)
@jit
def scan_fasttext_entries(
    text: UInt8Array,
    at: int,
    starts: Int64Array,
    stops: Int64Array,
    counts: npt.NDArray[np.int64],
    labels: npt.NDArray[np.bool_],
) -> int:
    """Parse fastText's dictionary: word, NUL, int64 count, int8 type.

    Returns the position after it, or -1 if it is truncated.
    """
    for i in range(len(starts)):
        starts[i] = at
        while at < len(text) and text[at] != 0:
            at += 1
        stops[i] = at
        if at + 10 > len(text):
            return -1
        count = np.uint64(0)
        for j in range(8, 0, -1):
            count = (count << np.uint64(8)) | np.uint64(text[at + j])
        counts[i] = np.int64(count)
        labels[i] = text[at + 9] != 0
        at += 10
    return at
