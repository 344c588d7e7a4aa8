"""The maximum of the first values of a row, or of their magnitudes; emitted as LLVM instructions.

Numba compiles a loop to a comparison and a masked store, which are slow on some processors.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from malmoi.kernels.core.intrinsics import llvm_intrinsic
from malmoi.kernels.core.llvm import F32, FLOAT_BYTES, SIMD_WIDTH, Array, Emitter, vector


def maximum_kernel(magnitudes: bool) -> Callable[..., Any]:
    """`maximum(row, count)` of at least one value; none may be NaN."""

    @llvm_intrinsic(types.float32)
    def maximum(emit: Emitter, row: Array, count: Any) -> Any:
        def load(first: Any, lanes: int) -> Any:
            value = emit.load(emit.add(row.address, emit.multiply(first, FLOAT_BYTES)), lanes)
            return magnitude(emit, value) if magnitudes else value

        builder, result = emit.builder, emit.alloca(F32)
        builder.store(load(emit.integer(0), 1), result)
        is_long = builder.icmp_signed(">=", count, emit.integer(SIMD_WIDTH))
        with builder.if_else(is_long) as (vectors, scalars):
            with vectors:  # the last vector may overlap the one before
                largest, last = emit.alloca(vector(SIMD_WIDTH)), emit.add(count, -SIMD_WIDTH)
                builder.store(load(last, SIMD_WIDTH), largest)
                with emit.loop(emit.divide(count, SIMD_WIDTH)) as chunk:
                    values = load(emit.multiply(chunk, SIMD_WIDTH), SIMD_WIDTH)
                    builder.store(larger(emit, values, emit.load_sum(largest)), largest)
                builder.store(reduce_max(emit, emit.load_sum(largest)), result)
            with scalars, emit.loop(count) as i:
                old = builder.load(result, typ=F32)
                builder.store(larger(emit, load(i, 1), old), result)
        return builder.load(result, typ=F32)

    return maximum


def larger(emit: Emitter, left: Any, right: Any) -> Any:
    """The larger value of each lane."""
    return emit.builder.select(emit.builder.fcmp_ordered(">", left, right), left, right)


def magnitude(emit: Emitter, value: Any) -> Any:
    """|value|."""
    name = "f32" if value.type == F32 else f"v{value.type.count}f32"
    signature = ir.FunctionType(value.type, [value.type])
    absolute = emit.builder.module.declare_intrinsic(f"llvm.fabs.{name}", (), signature)
    return emit.builder.call(absolute, [value])


def reduce_max(emit: Emitter, value: Any) -> Any:
    """The largest of all lanes."""
    lanes = SIMD_WIDTH
    while lanes > 1:
        lanes //= 2
        value = larger(
            emit,
            emit.shuffle(value, value, range(lanes)),
            emit.shuffle(value, value, range(lanes, 2 * lanes)),
        )
    return emit.builder.extract_element(value, ir.IntType(32)(0))


row_max, row_abs_max = maximum_kernel(magnitudes=False), maximum_kernel(magnitudes=True)
