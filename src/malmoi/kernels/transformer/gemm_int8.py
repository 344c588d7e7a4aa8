"""Products of int8: four multiplications and additions per lane in one instruction (VNNI).

A row is divided by its own largest magnitude and rounded to −127 … 127, so the vector of a text
does not depend on the texts beside it; so is each column of the matrix, once. The instruction
multiplies unsigned bytes with signed ones: 128 is added to the numbers of a row, and sums start
at −128 times the sum of a column.
"""

from typing import Any

import numpy as np
from llvmlite import ir

from malmoi.arrays import Float32Array
from malmoi.kernels.core.jit import readily_compiled
from malmoi.kernels.core.llvm import WIDE, Emitter, has
from malmoi.kernels.transformer.gemm_quantized import LEAST, SUMS, Quantized, integer_product_of
from malmoi.kernels.transformer.row_max import highest_magnitude

USABLE = has("avx512vnni") and WIDE == 16
GROUP = 4  # numbers that a lane multiplies in one instruction
MOST, OFFSET = 127, 128
MULTIPLY = "llvm.x86.avx512.vpdpbusd.512"


def accumulate(emit: Emitter, sums: Any, row: Any, columns: Any) -> Any:
    """sums + Σ row · columns, over the four bytes of each lane."""
    kind = ir.FunctionType(SUMS, [SUMS] * 3)
    multiply = emit.builder.module.declare_intrinsic(MULTIPLY, (), kind)
    return emit.builder.call(multiply, [sums, row, columns])


byte_product = integer_product_of(GROUP, accumulate)


@readily_compiled
def quantize_bytes(rows: Float32Array, depth: int, out: Quantized) -> None:
    """The first `depth` numbers of each row as unsigned bytes, 128 too large."""
    for i in range(len(rows)):
        row, own = rows[i], out.rows[i]
        most = max(highest_magnitude(row, depth), LEAST)
        out.scales[i] = most / np.float32(MOST)
        share = np.float32(MOST) / most
        for d in range(depth):  # truncation after adding a half rounds, as all are positive
            own[d] = np.uint8(np.int32(row[d] * share + np.float32(OFFSET + 0.5)))
