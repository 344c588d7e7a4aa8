"""Prefetching: load cache lines before a loop needs them.

The rows of a large table are used in no particular order, so each access would miss the cache. A
kernel that knows the next rows prefetches their lines, for writing, so that no other core holds
them. The results are the same without it.
"""

from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.kernels.core.intrinsics import llvm_intrinsic
from malmoi.kernels.core.jit import jit_inline
from malmoi.kernels.core.llvm import CACHE_LINE_BYTES, Emitter


@llvm_intrinsic()
def prefetch(emit: Emitter, address: Any) -> None:
    """Prefetch the line at an address, such as `rows.ctypes.data + 4 * i`.

    An address outside the array does no harm.
    """
    emit.prefetch(address, to_write=True)


@jit_inline
def prefetch_row(matrix: Float32Array, row: int) -> None:
    """Prefetch a row of floats."""
    size = 4 * matrix.shape[1]
    start = matrix.ctypes.data + np.int64(row) * size
    for line in range(0, size, CACHE_LINE_BYTES):
        prefetch(start + line)
