"""GEMM of int8: four multiplications and additions per lane in one instruction (VNNI).

Each row is divided by its own largest magnitude and rounded to −127 … 127, so the vector of a
text does not depend on the other texts of its batch; so is each column of the matrix, once. The
instruction multiplies unsigned bytes with signed ones: rows are shifted by the zero point 128, and
sums start at −128 times the sum of a column.
"""

from typing import Any

import numpy as np
from llvmlite import ir

from malmoi.arrays import Float32Array
from malmoi.kernels.core.jit import jit_finite
from malmoi.kernels.core.llvm import SIMD_WIDTH, Emitter, has_feature
from malmoi.kernels.transformer.gemm_quantized import (
    INT32_VECTOR,
    MIN_ROW_MAX,
    QuantizedRows,
    quantized_gemm,
)
from malmoi.kernels.transformer.row_max import row_abs_max

IS_SUPPORTED = has_feature("avx512vnni") and SIMD_WIDTH == 16
GROUP = 4  # int8 values that a lane multiplies in one instruction
MAX_INT8, ZERO_POINT = 127, 128
VPDPBUSD = "llvm.x86.avx512.vpdpbusd.512"


def accumulate(emit: Emitter, sums: Any, row: Any, columns: Any) -> Any:
    """sums + Σ row · columns, over the four bytes of each lane."""
    signature = ir.FunctionType(INT32_VECTOR, [INT32_VECTOR] * 3)
    instruction = emit.builder.module.declare_intrinsic(VPDPBUSD, (), signature)
    return emit.builder.call(instruction, [sums, row, columns])


gemm_int8 = quantized_gemm(GROUP, accumulate)


@jit_finite
def quantize_rows_int8(rows: Float32Array, depth: int, out: QuantizedRows) -> None:
    """Quantize the first `depth` values of each row to unsigned bytes with zero point 128."""
    for i in range(len(rows)):
        row, quantized = rows[i], out.rows[i]
        largest = max(row_abs_max(row, depth), MIN_ROW_MAX)
        out.scales[i] = largest / np.float32(MAX_INT8)
        factor = np.float32(MAX_INT8) / largest
        for d in range(depth):  # all values are positive: truncating after adding ½ rounds
            quantized[d] = np.uint8(np.int32(row[d] * factor + np.float32(ZERO_POINT + 0.5)))
