"""Emits LLVM instructions on vectors of floats in a compact notation.

Addresses, offsets and counts are 64-bit integers; addresses and offsets are in bytes.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding, ir
from numba.core import cgutils, config

F32, I64, I32 = ir.FloatType(), ir.IntType(64), ir.IntType(32)
FLOAT_BYTES = 4  # also the size of an int32 row index
CACHE_LINE_BYTES = 64
FAST_MATH = ("contract", "reassoc")


def has_feature(feature: str) -> bool:
    """Whether the processor that Numba compiles for has this LLVM feature."""
    if config.CPU_NAME:
        return f"+{feature}" in (config.CPU_FEATURES or "")
    return bool(binding.get_host_cpu_features().get(feature, False))


SIMD_WIDTH = 16 if has_feature("avx512f") else 8  # floats in a register


def vector(lanes: int) -> Any:
    """The type of a vector of floats, or of a single float."""
    return F32 if lanes == 1 else ir.VectorType(F32, lanes)


class Array(NamedTuple):
    """An array argument: its address, shape and strides in bytes."""

    address: Any
    shape: Sequence[Any]
    strides: Sequence[Any]


class Emitter:
    """Appends instructions to a function; each method returns the value that it computes."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def integer(self, value: Any) -> Any:
        """An int64 value; a Python int becomes a constant."""
        return ir.Constant(I64, value) if isinstance(value, int) else value

    def add(self, *numbers: Any) -> Any:
        """The sum of int64 values."""
        total = self.integer(numbers[0])
        for number in numbers[1:]:
            total = self.builder.add(total, self.integer(number))
        return total

    def multiply(self, left: Any, right: Any) -> Any:
        """The product of two int64 values."""
        return self.builder.mul(self.integer(left), self.integer(right))

    def divide(self, left: Any, right: int) -> Any:
        """The quotient of two int64 values, rounded down."""
        return self.builder.udiv(left, self.integer(right))

    def minimum(self, left: Any, right: Any) -> Any:
        """The smaller of two int64 values."""
        return self.builder.select(self.builder.icmp_signed("<", left, right), left, right)

    @contextmanager
    def loop(self, count: Any) -> Iterator[Any]:
        """Repeat the instructions emitted inside; yields the loop index."""
        with cgutils.for_range(self.builder, count) as rounds:
            yield rounds.index

    def load(self, address: Any, lanes: int = SIMD_WIDTH) -> Any:
        """Load floats from an address that need not be aligned."""
        return self.load_as(vector(lanes), address)

    def load_as(self, kind: Any, address: Any) -> Any:
        """Load a value of any type from an address."""
        pointer = self.builder.inttoptr(address, kind.as_pointer())
        return self.builder.load(pointer, align=FLOAT_BYTES, typ=kind)

    def store(self, value: Any, address: Any) -> None:
        """Store a value at an address."""
        pointer = self.builder.inttoptr(address, value.type.as_pointer())
        self.builder.store(value, pointer, align=FLOAT_BYTES)

    def prefetch(self, address: Any, *, to_write: bool = False) -> None:
        """Prefetch the cache line at an address."""
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, I32, I32, I32])
        function = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0")
        hints = (I32(int(to_write)), I32(3), I32(1))  # keep in L1; data cache
        self.builder.call(function, [self.builder.inttoptr(address, pointer), *hints])

    def row_address(self, array: Array, index: Any) -> Any:
        """The address of a row of a matrix, or of an element of a vector."""
        return self.add(array.address, self.multiply(index, array.strides[0]))

    def indexed_row_address(self, matrix: Array, rows: Array, index: Any) -> Any:
        """The address of row `rows[index]` of a matrix."""
        row = self.load_as(I32, self.row_address(rows, index))
        return self.row_address(matrix, self.builder.sext(row, I64))

    def reciprocal(self, count: Any) -> Any:
        """1 / count as a float."""
        return self.builder.fdiv(F32(1.0), self.builder.uitofp(count, F32))

    def constant(self, value: float, lanes: int) -> Any:
        """A vector with a constant in all lanes."""
        return ir.Constant(vector(lanes), [float(np.float32(value))] * lanes)

    def broadcast(self, value: Any, lanes: int) -> Any:
        """A vector with a value in all lanes."""
        undefined = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
        first = self.builder.insert_element(undefined, value, I32(0))
        return self.shuffle(first, undefined, [0] * lanes)

    def load_broadcast(self, address: Any) -> Any:
        """A vector with the float at an address in all lanes."""
        return self.broadcast(self.load(address, 1), SIMD_WIDTH)

    def shuffle(self, left: Any, right: Any, lanes: Sequence[int]) -> Any:
        """A vector of these lanes of `left`, or of `right`, whose lanes follow those of `left`."""
        mask = ir.Constant(ir.VectorType(I32, len(lanes)), list(lanes))
        return self.builder.shuffle_vector(left, right, mask)

    def fadd(self, left: Any, right: Any) -> Any:
        """left + right."""
        return self.builder.fadd(left, right, flags=FAST_MATH)

    def fsub(self, left: Any, right: Any) -> Any:
        """left − right."""
        return self.builder.fsub(left, right, flags=FAST_MATH)

    def fmul(self, left: Any, right: Any) -> Any:
        """left · right."""
        return self.builder.fmul(left, right, flags=FAST_MATH)

    def fdiv(self, left: Any, right: Any) -> Any:
        """left / right."""
        return self.builder.fdiv(left, right, flags=FAST_MATH)

    def polynomial(self, coefficients: Sequence[float], at: Any) -> Any:
        """The value of a polynomial, highest coefficient first; Estrin's scheme, not a chain."""
        values = [self.constant(each, at.type.count) for each in reversed(coefficients)]
        while len(values) > 1:
            values += [None] * (len(values) % 2)
            pairs = zip(values[::2], values[1::2], strict=True)
            values = [
                low if high is None else self.fadd(self.fmul(high, at), low) for low, high in pairs
            ]
            at = self.fmul(at, at)
        return values[0]

    def clamp(self, value: Any, limit: float) -> Any:
        """The value clamped to the range from −limit to limit."""
        for sign, bound in ((">", -limit), ("<", limit)):
            bounds = self.constant(bound, value.type.count)
            within = self.builder.fcmp_ordered(sign, value, bounds)
            value = self.builder.select(within, value, bounds)
        return value

    def alloca(self, kind: Any) -> Any:
        """A variable, which LLVM keeps in a register."""
        return cgutils.alloca_once(self.builder, kind)

    def new_sums(self, count: int) -> list[Any]:
        """Variables for running sums."""
        return [self.alloca(vector(SIMD_WIDTH)) for _ in range(count)]

    def zero_sums(self, sums: list[Any]) -> None:
        """Set running sums to 0."""
        for each in sums:
            self.builder.store(self.constant(0, SIMD_WIDTH), each)

    def load_sum(self, running: Any) -> Any:
        """The value of a running sum."""
        return self.builder.load(running, typ=vector(SIMD_WIDTH))

    def add_to_sum(self, running: Any, value: Any) -> None:
        """Add a vector to a running sum."""
        self.builder.store(self.fadd(value, self.load_sum(running)), running)

    def fma_to_sum(self, running: Any, left: Any, right: Any) -> None:
        """Add left · right to a running sum; LLVM contracts it to a fused multiply-add."""
        self.add_to_sum(running, self.fmul(left, right))

    def horizontal_sums(self, sums: list[Any], lanes: int) -> Any:
        """A vector whose lane i is the sum over all lanes of running sum i."""
        vectors = [self.reduce_lanes(self.load_sum(each), lanes) for each in sums]
        vectors += [self.constant(0, lanes)] * (lanes - len(vectors))
        width = 1
        while len(vectors) > 1:
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [self.add_neighbours(left, right, width) for left, right in pairs]
            width *= 2
        return vectors[0]

    def reduce_lanes(self, value: Any, lanes: int) -> Any:
        """Add the halves of a vector until it has `lanes` lanes."""
        while value.type.count > lanes:
            half = value.type.count // 2
            low, high = range(half), range(half, 2 * half)
            value = self.fadd(self.shuffle(value, value, low), self.shuffle(value, value, high))
        return value

    def add_neighbours(self, left: Any, right: Any, width: int) -> Any:
        """Sums of lanes `width` apart, alternating between both vectors in blocks of `width`."""
        lanes = left.type.count
        each = [lane for lane in range(2 * lanes) if not lane & width]
        order = sorted(each, key=lambda lane: (lane % lanes // (2 * width), lane // lanes, lane))
        others = [lane + width for lane in order]
        return self.fadd(self.shuffle(left, right, order), self.shuffle(left, right, others))
