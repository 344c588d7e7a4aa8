"""Rows in the binary format of COPY, as bytes.

A row is the number of its columns (int16) and, for each, its length in bytes (int32) and its
bytes, all big-endian. pgvector's vector is its dimension (int16), zero (int16) and float32
numbers. Rows of equal size are written by NumPy, many at once. Knows nothing of tables.
"""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from struct import Struct

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array
from malmoi.search.storage.postings import Postings

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
CHUNK_BYTES = 1 << 22
MAX_WORD_BYTES = 255  # longer words are stored as their hash
COUNT, LENGTH = Struct(">h").pack, Struct(">i").pack
INT8 = Struct(">iq").pack
INT4 = Struct(">ii").pack


def column(data: bytes) -> bytes:
    """A column of any length."""
    return LENGTH(len(data)) + data


def row_of(columns: Sequence[bytes]) -> bytes:
    """A row of columns that have their lengths."""
    return COUNT(len(columns)) + b"".join(columns)


def vector_rows(
    rows: Int64Array, parts: Int64Array, spans: npt.NDArray[np.integer], matrix: Float32Array
) -> Iterator[bytes]:
    """Rows of (row, part, first, last, embedding)."""
    dim = matrix.shape[1]
    layout = np.dtype(
        [
            ("columns", ">i2"),
            *_integer("row", 8),
            *_integer("part", 4),
            *_integer("first", 4),
            *_integer("last", 4),
            ("size", ">i4"),
            ("dim", ">i2"),
            ("unused", ">i2"),
            ("vector", ">f4", (dim,)),
        ]
    )
    step = max(1, CHUNK_BYTES // layout.itemsize)
    for start in range(0, len(matrix), step):
        part = slice(start, start + step)
        block = np.zeros(len(matrix[part]), layout)
        block["columns"], block["size"], block["dim"] = 5, 4 + 4 * dim, dim
        _fill(block, "row", rows[part], 8)
        _fill(block, "part", parts[part], 4)
        _fill(block, "first", spans[part, 0], 4)
        _fill(block, "last", spans[part, 1], 4)
        block["vector"] = matrix[part]
        yield block.tobytes()


def word_rows(postings: Postings, words: Sequence[bytes], first: int) -> Iterator[bytes]:
    """Rows of (row, length, count, word); text i of the postings is row `first` + i."""
    sizes = np.fromiter(map(len, words), np.int64, len(words))
    counts = np.diff(postings.bounds)
    for size in np.unique(sizes).tolist():  # words of equal size make rows of equal size
        same = np.flatnonzero(sizes == size)
        encoded = np.array([words[i] for i in same.tolist()], f"S{max(1, size)}")
        order = np.argsort(encoded)  # a B-tree takes sorted keys faster
        same, encoded = same[order], encoded[order]
        at = _ranges(postings.bounds[:-1][same], counts[same])
        layout = np.dtype(
            [
                ("columns", ">i2"),
                *_integer("row", 8),
                *_integer("length", 4),
                *_integer("count", 4),
                ("size", ">i4"),
                ("word", f"S{size}"),
            ]
        )
        block = np.zeros(len(at), layout)
        block["columns"], block["size"] = 4, size
        texts = postings.rows[at]
        _fill(block, "row", first + texts.astype(np.int64), 8)
        _fill(block, "length", postings.lengths[texts], 4)
        _fill(block, "count", postings.counts[at], 4)
        if size:
            block["word"] = np.repeat(encoded, counts[same])
        yield block.tobytes()


def word_key(word: str) -> bytes:
    """A word as it is stored: the longest as a hash, since a B-tree stores short keys alone."""
    encoded = word.encode("utf-8", "replace").replace(b"\0", b"")
    if len(encoded) <= MAX_WORD_BYTES:
        return encoded
    return b"#" + blake2b(encoded, digest_size=16).hexdigest().encode()


def vector_of(data: bytes) -> Float32Array:
    """A vector in the binary format of pgvector."""
    return np.frombuffer(data, ">f4", offset=4).astype(np.float32)


def _integer(name: str, size: int) -> list[tuple[str, str]]:
    """The fields of an integer column: its length and its value."""
    return [(f"{name}_size", ">i4"), (name, f">i{size}")]


def _fill(
    block: npt.NDArray[np.void], name: str, values: npt.NDArray[np.integer], size: int
) -> None:
    block[f"{name}_size"], block[name] = size, values


def _ranges(starts: Int64Array, counts: Int64Array) -> Int64Array:
    """The numbers from each start on, so many."""
    if not len(starts):
        return np.empty(0, np.int64)
    ends = np.cumsum(counts)
    every: Int64Array = np.arange(int(ends[-1])) + np.repeat(starts - ends + counts, counts)
    return every
