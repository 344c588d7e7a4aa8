"""The largest of the first numbers of a row, or the largest magnitude; written for LLVM.

A loop of Numba's own becomes a comparison and a masked store, which some processors are slow at.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types

from malmoi.kernels.core.intrinsics import emitted
from malmoi.kernels.core.llvm import FLOAT, NUMBER, WIDE, Array, Emitter, vector


def maximum_of(magnitudes: bool) -> Callable[..., Any]:
    """`maximum(row, count)` of at least one number, none of which is NaN."""

    @emitted(types.float32)
    def maximum(emit: Emitter, row: Array, count: Any) -> Any:
        def loaded(first: Any, lanes: int) -> Any:
            value = emit.load(emit.plus(row.address, emit.times(first, NUMBER)), lanes)
            return magnitude(emit, value) if magnitudes else value

        builder, found = emit.builder, emit.place(FLOAT)
        builder.store(loaded(emit.number(0), 1), found)
        enough = builder.icmp_signed(">=", count, emit.number(WIDE))
        with builder.if_else(enough) as (vectors, numbers):
            with vectors:  # the last one may overlap the one before
                largest, last = emit.place(vector(WIDE)), emit.plus(count, -WIDE)
                builder.store(loaded(last, WIDE), largest)
                with emit.loop(emit.divided(count, WIDE)) as chunk:
                    here = loaded(emit.times(chunk, WIDE), WIDE)
                    builder.store(larger(emit, here, emit.total(largest)), largest)
                builder.store(folded(emit, emit.total(largest)), found)
            with numbers, emit.loop(count) as i:
                old = builder.load(found, typ=FLOAT)
                builder.store(larger(emit, loaded(i, 1), old), found)
        return builder.load(found, typ=FLOAT)

    return maximum


def larger(emit: Emitter, left: Any, right: Any) -> Any:
    """The larger number of each lane."""
    return emit.builder.select(emit.builder.fcmp_ordered(">", left, right), left, right)


def magnitude(emit: Emitter, value: Any) -> Any:
    """|value|."""
    name = "f32" if value.type == FLOAT else f"v{value.type.count}f32"
    kind = ir.FunctionType(value.type, [value.type])
    absolute = emit.builder.module.declare_intrinsic(f"llvm.fabs.{name}", (), kind)
    return emit.builder.call(absolute, [value])


def folded(emit: Emitter, value: Any) -> Any:
    """The largest of all lanes."""
    lanes = WIDE
    while lanes > 1:
        lanes //= 2
        value = larger(
            emit,
            emit.chosen(value, value, range(lanes)),
            emit.chosen(value, value, range(lanes, 2 * lanes)),
        )
    return emit.builder.extract_element(value, ir.IntType(32)(0))


highest, highest_magnitude = maximum_of(magnitudes=False), maximum_of(magnitudes=True)
