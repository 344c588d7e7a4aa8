"""The product-quantized matrices of fastText's .ftz: rows as codes into tables of centroids.

u8 with norms?; i64 rows, columns; i32 bytes of codes; u8 codes [rows, parts]; product
quantizer; with norms: u8 code [rows] and a product quantizer of one dimension

product quantizer: i32 dim, parts, width, last width; f32 centroids [parts, 256, width]
"""

import numpy as np

from malmoi.arrays import Float32Array, UInt8Array
from malmoi.errors import InvalidFileError
from malmoi.formats.fasttext.byte_cursor import Cursor

CENTROIDS = 256


def read_quantized(cursor: Cursor) -> Float32Array:
    """Read a matrix as float32 [rows, columns]."""
    with_norms, rows, columns, size = cursor.unpack("<?2qi", "quantized matrix")
    codes = cursor.array("u1", size, "codes")
    if rows < 0 or columns < 1 or size < rows or (size % rows if rows else size):
        raise InvalidFileError(f"{cursor.path} has {size:,} codes for {rows:,} rows: it is damaged")
    matrix = decode_rows(cursor, codes.reshape(rows, size // max(rows, 1)), columns)
    if with_norms:
        norms = cursor.array("u1", rows, "norms").reshape(rows, 1)
        matrix *= decode_rows(cursor, norms, 1)
    return matrix


def decode_rows(cursor: Cursor, codes: UInt8Array, columns: int) -> Float32Array:
    """Read the tables of centroids, and look the codes up in them."""
    dim, parts, width, last_width = cursor.unpack("<4i", "quantizer")
    if (
        dim != columns
        or parts != codes.shape[1]
        or (parts - 1) * width + last_width != dim
        or width < 1
    ):
        raise InvalidFileError(
            f"{cursor.path} has a quantizer that does not fit its matrix: it is damaged"
        )
    centroids = cursor.array("<f4", dim * CENTROIDS, "centroids")
    matrix = np.empty((len(codes), dim), dtype=np.float32)
    for part in range(parts):
        first = part * width
        last = min(first + width, dim)
        table = centroids[first * CENTROIDS : last * CENTROIDS].reshape(CENTROIDS, -1)
        matrix[:, first:last] = table[codes[:, part]]
    return matrix
