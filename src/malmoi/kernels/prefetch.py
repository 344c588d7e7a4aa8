"""Ask the processor to bring memory near before it is needed: the one thing a loop cannot say.

Rows of a large table are wanted in no order, so each would be waited for. A kernel that knows
which rows come next asks for their lines ahead, and for no other core to have them, since it
will write there; what it computes is the same without it.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import types
from numba.extending import intrinsic

from malmoi.kernels.compiled import inlined
from malmoi.kernels.emitting import Emitter
from malmoi.kernels.text_rows import Matrix

LINE = 64  # bytes that come at a time


def generate_prefetch(typing: Any, array_address: Any) -> tuple[Any, Callable[..., Any]]:
    """LLVM's own instruction, in the place of the call."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        Emitter(builder).ask_for(arguments[0], to_write=True)
        return target.get_dummy_value()

    return types.void(types.int64), generate


# prefetch(array_address): bring the line at an address, such as `rows.ctypes.data + 4 * place`.
# An address that is not there does no harm.
prefetch = cast(Callable[[int], None], intrinsic(generate_prefetch))


@inlined
def prefetch_row(matrix: Matrix, row: int) -> None:
    """Bring a row of floats."""
    size = 4 * matrix.shape[1]
    start = matrix.ctypes.data + np.int64(row) * size
    for line in range(0, size, LINE):
        prefetch(start + line)
