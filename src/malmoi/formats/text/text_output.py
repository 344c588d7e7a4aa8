"""Vectors written as lines of text, and checks for what a line of text cannot hold."""

from typing import BinaryIO

import numpy as np

from malmoi.errors import InvalidArgumentError
from malmoi.formats.reading import MAX_KEY_BYTES
from malmoi.kernels.core.jit import pool, readonly_view
from malmoi.kernels.parsing.text_rows import MAX_NUMBER_BYTES, ends_in_component, format_lines
from malmoi.kernels.threads import THREADS
from malmoi.keys import Keys
from malmoi.reporting.reporter import Progress
from malmoi.vectors import Vectors

BLOCK_ROWS = 8192


def write_lines(
    vectors: Vectors,
    file: BinaryIO,
    progress: Progress,
    *,
    separator: bytes = b" ",
    keyed: bool = True,
) -> None:
    """Write all rows, each number with as many digits as a reader needs to restore it."""
    offsets = readonly_view(vectors.keys.offsets if keyed else np.empty(0, np.int64))
    packed, matrix = readonly_view(vectors.keys.packed), readonly_view(vectors.matrix)
    row_bytes = MAX_NUMBER_BYTES * vectors.dim + 1

    def format_block(first: int) -> memoryview:
        last = min(first + BLOCK_ROWS, len(vectors))
        key_bytes = int(offsets[last] - offsets[first]) if keyed else 0
        out = np.empty((last - first) * row_bytes + key_bytes, dtype=np.uint8)
        used = format_lines(matrix, packed, offsets, separator[0], out, first, last)
        return out.data[:used]

    starts = range(0, len(vectors), BLOCK_ROWS)
    ahead = [pool().submit(format_block, first) for first in starts[: 2 * THREADS]]
    for first in starts:
        file.write(ahead.pop(0).result())
        if first + 2 * THREADS * BLOCK_ROWS < len(vectors):
            ahead.append(pool().submit(format_block, first + 2 * THREADS * BLOCK_ROWS))
        progress(min(first + BLOCK_ROWS, len(vectors)), len(vectors))


def check_keys(keys: Keys, forbidden: bytes, title: str, *, empty: bool = False) -> None:
    """Raise `InvalidArgumentError` for keys that a format cannot hold."""
    for byte in forbidden:
        positions = np.flatnonzero(keys.packed == byte)
        if len(positions):
            row = int(np.searchsorted(keys.offsets, positions[0], side="right")) - 1
            raise InvalidArgumentError(
                f"{title} cannot hold the key {keys[row]!r}, which contains {chr(byte)!r}:"
                " choose another format, such as .malmoi"
            )
    lengths = np.diff(keys.offsets)
    if len(lengths) and lengths.max() > MAX_KEY_BYTES:
        raise InvalidArgumentError(
            f"{title} cannot hold a key of {int(lengths.max()):,} bytes:"
            " choose another format, such as .malmoi"
        )
    if not empty and np.any(np.diff(keys.offsets) == 0):
        raise InvalidArgumentError(
            f"{title} cannot hold an empty key: choose another format, such as .malmoi"
        )


def check_numeric_ends(keys: Keys, title: str) -> None:
    """Raise `InvalidArgumentError` for keys whose end would be read as a number of the row."""
    spaced = np.flatnonzero(keys.packed == ord(" "))
    for row in np.unique(np.searchsorted(keys.offsets, spaced, side="right") - 1).tolist():
        if ends_in_component(keys.packed, keys.offsets[row], keys.offsets[row + 1], ord(" ")):
            raise InvalidArgumentError(
                f"{title} cannot hold the key {keys[row]!r}: its end would be read as a number"
            )


def check_rows(vectors: Vectors, title: str) -> None:
    """Raise `InvalidArgumentError` for vectors without words: the file would be empty."""
    if len(vectors) == 0:
        raise InvalidArgumentError(
            f"{title} cannot hold vectors without words: there is nothing to write"
        )
