"""GEMM of int16: two multiplications per lane in one instruction, then an addition.

`vpmaddwd` is in AVX2 (and in AVX-512 BW) and multiplies twice as many values as an FMA does. The
sums are int32, so values are scaled to make overflow impossible. By Cauchy–Schwarz,

    |Σₖ x[k] · w[k]| ≤ ‖x‖ · ‖w‖,

and no quantized row or column has a norm above `MAX_NORM`, the square of which is below 2³¹. The
scale of a row depends on that row alone, so the vector of a text does not depend on the other
texts of its batch.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir

from malmoi.arrays import Float32Array
from malmoi.kernels.core.checks import ArrayOf
from malmoi.kernels.core.jit import jit_finite
from malmoi.kernels.core.llvm import SIMD_WIDTH, Emitter, has_feature
from malmoi.kernels.transformer.gemm import IS_SUPPORTED as FLOAT_IS_SUPPORTED
from malmoi.kernels.transformer.gemm_quantized import (
    INT32_VECTOR,
    MIN_ROW_MAX,
    QuantizedRows,
    new_quantized_rows,
    quantized_gemm,
)
from malmoi.kernels.transformer.row_max import row_abs_max

IS_SUPPORTED = FLOAT_IS_SUPPORTED and (SIMD_WIDTH == 8 or has_feature("avx512bw"))
GROUP = 2  # int16 values that a lane multiplies in one instruction
MAX_INT16 = 32767
MAX_NORM = math.isqrt(2**31 - 1)  # of a quantized row or column: its square fits into an int32
NORM_SLACK = 8  # for the error of a norm computed in single precision
VPMADDWD = "llvm.x86.avx512.pmaddw.d.512" if SIMD_WIDTH == 16 else "llvm.x86.avx2.pmadd.wd"
INT16_VECTOR = ir.VectorType(ir.IntType(16), GROUP * SIMD_WIDTH)


def accumulate(emit: Emitter, sums: Any, row: Any, columns: Any) -> Any:
    """sums + Σ row · columns, over the two int16 values of each lane."""
    builder = emit.builder
    signature = ir.FunctionType(INT32_VECTOR, [INT16_VECTOR] * 2)
    instruction = builder.module.declare_intrinsic(VPMADDWD, (), signature)
    operands = [builder.bitcast(values, INT16_VECTOR) for values in (row, columns)]
    return builder.add(sums, builder.call(instruction, operands))


gemm_int16 = quantized_gemm(GROUP, accumulate)


@jit_finite
def quantize_rows_int16(rows: Float32Array, depth: int, out: QuantizedRows) -> None:
    """Quantize the first `depth` values of each row with the largest scale that cannot overflow."""
    norm = np.float32(MAX_NORM - NORM_SLACK - math.sqrt(depth) / 2)  # rounding adds at most ½ each
    for i in range(len(rows)):
        row, quantized = rows[i], out.rows[i]
        largest = max(row_abs_max(row, depth), MIN_ROW_MAX)
        inverse = np.float32(1) / largest
        squares = np.float32(0)
        for d in range(depth):  # of values up to 1, so that huge rows do not overflow
            squares += (row[d] * inverse) * (row[d] * inverse)
        limit = min(np.float32(MAX_INT16), norm / np.sqrt(max(squares, np.float32(1))))
        out.scales[i] = largest / limit
        factor = inverse * limit
        for d in range(depth):
            quantized[d] = np.int16(np.rint(row[d] * factor))


def quantized_int16(rows: Float32Array) -> QuantizedRows:
    """Whole rows quantized, for Python: allocates the result."""
    ArrayOf(np.float32, "rows", "depth").check("rows", rows, {})
    count, depth = rows.shape
    quantized = new_quantized_rows(count, depth, np.int16)
    quantize_rows_int16(rows, depth, quantized)
    return quantized
