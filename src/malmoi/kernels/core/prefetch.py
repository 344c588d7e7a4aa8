"""Ask the processor to bring memory near before it is needed: the one thing a loop cannot say.

Rows of a large table are wanted in no order, so each would be waited for. A kernel that knows
which rows come next asks for their lines ahead, and for no other core to have them, since it
will write there; what it computes is the same without it.
"""

from typing import Any

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.kernels.core.intrinsics import emitted
from malmoi.kernels.core.jit import inlined
from malmoi.kernels.core.llvm import Emitter

LINE = 64  # bytes that come at a time


@emitted()
def prefetch(emit: Emitter, address: Any) -> None:
    """Bring the line at an address, such as `rows.ctypes.data + 4 * place`.

    An address that is not there does no harm.
    """
    emit.ask_for(address, to_write=True)


@inlined
def prefetch_row(matrix: Float32Array, row: int) -> None:
    """Bring a row of floats."""
    size = 4 * matrix.shape[1]
    start = matrix.ctypes.data + np.int64(row) * size
    for line in range(0, size, LINE):
        prefetch(start + line)
