"""Instructions on vectors of floats, written for LLVM in few words; see `vector_tiles`.

Addresses, offsets and counts are 64-bit numbers, in bytes where they are places in memory.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding, ir
from numba.core import cgutils, config

FLOAT, INT, LANE = ir.FloatType(), ir.IntType(64), ir.IntType(32)
NUMBER = 4  # bytes of a float, and of a row's number
LOOSE = ("contract", "reassoc")


def has(feature: str) -> bool:
    """Whether the processor that Numba compiles for can do this."""
    if config.CPU_NAME:
        return f"+{feature}" in (config.CPU_FEATURES or "")
    return bool(binding.get_host_cpu_features().get(feature, False))


WIDE = 16 if has("avx512f") else 8  # numbers in a register


def vector(lanes: int) -> Any:
    """The kind of a vector, or of a single float."""
    return FLOAT if lanes == 1 else ir.VectorType(FLOAT, lanes)


class Array(NamedTuple):
    """An array as it is given: where it begins, how long each axis is, and how far it steps."""

    address: Any
    shape: Sequence[Any]
    strides: Sequence[Any]


class Emitter:
    """Writes one instruction after another; each call gives its result."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def number(self, value: Any) -> Any:
        """A whole number, constant or not."""
        return ir.Constant(INT, value) if isinstance(value, int) else value

    def plus(self, *numbers: Any) -> Any:
        """The sum of whole numbers."""
        total = self.number(numbers[0])
        for number in numbers[1:]:
            total = self.builder.add(total, self.number(number))
        return total

    def times(self, left: Any, right: Any) -> Any:
        """The product of whole numbers."""
        return self.builder.mul(self.number(left), self.number(right))

    def divided(self, left: Any, right: int) -> Any:
        """The quotient of whole numbers, without its rest."""
        return self.builder.udiv(left, self.number(right))

    def smaller(self, left: Any, right: Any) -> Any:
        """The smaller of two whole numbers."""
        return self.builder.select(self.builder.icmp_signed("<", left, right), left, right)

    @contextmanager
    def loop(self, count: Any) -> Iterator[Any]:
        """What is written inside is repeated; the number of the round."""
        with cgutils.for_range(self.builder, count) as rounds:
            yield rounds.index

    def load(self, address: Any, lanes: int = WIDE) -> Any:
        """The floats at an address, on whatever boundary."""
        return self.load_as(vector(lanes), address)

    def load_as(self, kind: Any, address: Any) -> Any:
        """Numbers of any kind at an address."""
        pointer = self.builder.inttoptr(address, kind.as_pointer())
        return self.builder.load(pointer, align=NUMBER, typ=kind)

    def store(self, value: Any, address: Any) -> None:
        """Put numbers there."""
        pointer = self.builder.inttoptr(address, value.type.as_pointer())
        self.builder.store(value, pointer, align=NUMBER)

    def ask_for(self, address: Any, *, to_write: bool = False) -> None:
        """Have the line at an address brought near, before it is needed."""
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, LANE, LANE, LANE])
        ask = cgutils.get_or_insert_function(self.builder.module, kind, "llvm.prefetch.p0")
        how = (LANE(int(to_write)), LANE(3), LANE(1))  # to stay in the nearest cache; data
        self.builder.call(ask, [self.builder.inttoptr(address, pointer), *how])

    def at(self, array: Array, place: Any) -> Any:
        """The address of a row of a matrix, or of a number of a vector."""
        return self.plus(array.address, self.times(place, array.strides[0]))

    def row(self, matrix: Array, rows: Array, place: Any) -> Any:
        """The address of a row of a matrix whose number stands at a place of a vector."""
        number = self.load_as(LANE, self.at(rows, place))
        return self.at(matrix, self.builder.sext(number, INT))

    def share(self, count: Any) -> Any:
        """1 / count as a float."""
        return self.builder.fdiv(FLOAT(1.0), self.builder.uitofp(count, FLOAT))

    def constant(self, value: float, lanes: int) -> Any:
        """A vector of one number."""
        return ir.Constant(vector(lanes), [float(np.float32(value))] * lanes)

    def everywhere(self, number: Any, lanes: int) -> Any:
        """A vector of one number that is not known before."""
        nothing = ir.Constant(ir.VectorType(number.type, lanes), ir.Undefined)
        first = self.builder.insert_element(nothing, number, LANE(0))
        return self.chosen(first, nothing, [0] * lanes)

    def spread(self, address: Any) -> Any:
        """The same of the number at an address."""
        return self.everywhere(self.load(address, 1), WIDE)

    def chosen(self, left: Any, right: Any, lanes: Sequence[int]) -> Any:
        """A vector of these lanes, counted through both."""
        choice = ir.Constant(ir.VectorType(LANE, len(lanes)), list(lanes))
        return self.builder.shuffle_vector(left, right, choice)

    def sum(self, left: Any, right: Any) -> Any:
        """left + right."""
        return self.builder.fadd(left, right, flags=LOOSE)

    def difference(self, left: Any, right: Any) -> Any:
        """left − right."""
        return self.builder.fsub(left, right, flags=LOOSE)

    def product(self, left: Any, right: Any) -> Any:
        """left · right."""
        return self.builder.fmul(left, right, flags=LOOSE)

    def quotient(self, left: Any, right: Any) -> Any:
        """left / right."""
        return self.builder.fdiv(left, right, flags=LOOSE)

    def polynomial(self, coefficients: Sequence[float], at: Any) -> Any:
        """The value of a polynomial, its highest coefficient first; by halves, not in a chain."""
        values = [self.constant(each, at.type.count) for each in reversed(coefficients)]
        while len(values) > 1:
            values += [None] * (len(values) % 2)
            pairs = zip(values[::2], values[1::2], strict=True)
            values = [
                low if high is None else self.sum(self.product(high, at), low)
                for low, high in pairs
            ]
            at = self.product(at, at)
        return values[0]

    def clipped(self, value: Any, most: float) -> Any:
        """Numbers that reach from −most to most."""
        for sign, bound in ((">", -most), ("<", most)):
            limit = self.constant(bound, value.type.count)
            within = self.builder.fcmp_ordered(sign, value, limit)
            value = self.builder.select(within, value, limit)
        return value

    def place(self, kind: Any) -> Any:
        """A place for something that changes, which LLVM keeps in a register."""
        return cgutils.alloca_once(self.builder, kind)

    def totals(self, count: int) -> list[Any]:
        """Places for running sums."""
        return [self.place(vector(WIDE)) for _ in range(count)]

    def clear(self, totals: list[Any]) -> None:
        """All sums become 0."""
        for total in totals:
            self.builder.store(self.constant(0, WIDE), total)

    def total(self, place: Any) -> Any:
        """A running sum."""
        return self.builder.load(place, typ=vector(WIDE))

    def add(self, place: Any, value: Any) -> None:
        """A running sum grows by a vector."""
        self.builder.store(self.sum(value, self.total(place)), place)

    def add_product(self, place: Any, left: Any, right: Any) -> None:
        """A running sum grows by left · right."""
        self.add(place, self.product(left, right))

    def sums(self, places: list[Any], lanes: int) -> Any:
        """A vector whose lane i is the sum over all lanes of running sum i."""
        vectors = [self.folded(self.total(place), lanes) for place in places]
        vectors += [self.constant(0, lanes)] * (lanes - len(vectors))
        width = 1
        while len(vectors) > 1:
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [self.neighbours_added(left, right, width) for left, right in pairs]
            width *= 2
        return vectors[0]

    def folded(self, value: Any, lanes: int) -> Any:
        """Halves added until only so many lanes are left."""
        while value.type.count > lanes:
            half = value.type.count // 2
            low, high = range(half), range(half, 2 * half)
            value = self.sum(self.chosen(value, value, low), self.chosen(value, value, high))
        return value

    def neighbours_added(self, left: Any, right: Any, width: int) -> Any:
        """Sums of lanes `width` apart; those of both vectors by turns, in blocks of `width`."""
        lanes = left.type.count
        each = [lane for lane in range(2 * lanes) if not lane & width]
        order = sorted(each, key=lambda lane: (lane % lanes // (2 * width), lane // lanes, lane))
        others = [lane + width for lane in order]
        return self.sum(self.chosen(left, right, order), self.chosen(left, right, others))
