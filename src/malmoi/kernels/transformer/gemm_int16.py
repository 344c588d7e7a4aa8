"""Products of int16: two multiplications per lane in one instruction, then an addition.

`vpmaddwd` is in AVX2 (and in AVX-512 BW) and multiplies twice as many numbers as an FMA does.
The sums are int32, so numbers are scaled to make overflow impossible. By Cauchy–Schwarz,

    |Σₖ x[k] · w[k]| ≤ ‖x‖ · ‖w‖,

and no quantized row or column has a norm above `BOUND`, the square of which is below 2³¹. The
scale of a row depends on that row alone, so the vector of a text does not depend on the texts
beside it.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir

from malmoi.arrays import Float32Array
from malmoi.kernels.core.checks import ArrayOf
from malmoi.kernels.core.jit import readily_compiled
from malmoi.kernels.core.llvm import WIDE, Emitter, has
from malmoi.kernels.transformer.gemm import USABLE as FLOATS_USABLE
from malmoi.kernels.transformer.gemm_quantized import (
    LEAST,
    SUMS,
    Quantized,
    integer_product_of,
    new_quantized,
)
from malmoi.kernels.transformer.row_max import highest_magnitude

USABLE = FLOATS_USABLE and (WIDE == 8 or has("avx512bw"))
GROUP = 2  # numbers that a lane multiplies in one instruction
MOST = 32767
BOUND = math.isqrt(2**31 - 1)  # of the norm of quantized numbers: its square fits into an int32
SLACK = 8  # for the error of a norm that is computed in single precision
MULTIPLY = "llvm.x86.avx512.pmaddw.d.512" if WIDE == 16 else "llvm.x86.avx2.pmadd.wd"
PAIRS = ir.VectorType(ir.IntType(16), GROUP * WIDE)


def accumulate(emit: Emitter, sums: Any, row: Any, columns: Any) -> Any:
    """sums + Σ row · columns, over the two numbers of each lane."""
    builder = emit.builder
    kind = ir.FunctionType(SUMS, [PAIRS] * 2)
    multiply = builder.module.declare_intrinsic(MULTIPLY, (), kind)
    pairs = [builder.bitcast(numbers, PAIRS) for numbers in (row, columns)]
    return builder.add(sums, builder.call(multiply, pairs))


int16_product = integer_product_of(GROUP, accumulate)


@readily_compiled
def quantize_int16(rows: Float32Array, depth: int, out: Quantized) -> None:
    """The first `depth` numbers of each row, its norm and its numbers as large as they may be."""
    norm = np.float32(BOUND - SLACK - math.sqrt(depth) / 2)  # rounding adds ½ to each at most
    for i in range(len(rows)):
        row, own = rows[i], out.rows[i]
        most = max(highest_magnitude(row, depth), LEAST)
        share = np.float32(1) / most
        squares = np.float32(0)
        for d in range(depth):  # of numbers up to 1: huge rows do not overflow
            squares += (row[d] * share) * (row[d] * share)
        largest = min(np.float32(MOST), norm / np.sqrt(max(squares, np.float32(1))))
        out.scales[i] = most / largest
        factor = share * largest
        for d in range(depth):
            own[d] = np.int16(np.rint(row[d] * factor))


def int16_rows(rows: Float32Array) -> Quantized:
    """Whole rows quantized, for Python: the workspace is made for them."""
    ArrayOf(np.float32, "rows", "depth").check("rows", rows, {})
    count, depth = rows.shape
    quantized = new_quantized(count, depth, np.int16)
    quantize_int16(rows, depth, quantized)
    return quantized
