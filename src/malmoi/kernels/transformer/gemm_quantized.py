"""Quantized rows times a quantized matrix, summed in 32-bit integers; what int8 and int16 share.

    out[t, :] = (first + Σₖ rows[t, k] · matrix[k, :]) · row_scale[t] · column_scale + bias

A group of neighbours along the depth fills 32 bits: four int8 numbers or two of int16. A lane
multiplies a group of a row with the same group of a column and adds the products to its sum.
A panel is therefore [depth / group, PANEL, group]; see `products` for tiles. Depths that are
not a multiple of a group are padded with zeros.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir

from malmoi.arrays import Float32Array
from malmoi.kernels.core.intrinsics import emitted
from malmoi.kernels.core.llvm import FLOAT, LANE, NUMBER, WIDE, Array, Emitter
from malmoi.kernels.transformer.gemm import AHEAD, LINE, VECTORS, emit_tiles

SUMS = ir.VectorType(LANE, WIDE)
STEP = NUMBER * WIDE * VECTORS  # bytes of a panel for one group of each column
LEAST = np.float32(1e-30)  # a row whose largest magnitude is below this is quantized to zeros

Accumulate = Callable[[Emitter, Any, Any, Any], Any]  # sums, row's group, columns' groups → sums


class Quantized(NamedTuple):
    """Quantized rows and the scale of each."""

    rows: npt.NDArray[np.integer[Any]]  # [rows, depth], uint8 or int16
    scales: Float32Array  # [rows], what a quantized number is multiplied with


def new_quantized(rows: int, depth: int, kind: npt.DTypeLike) -> Quantized:
    """Workspace for so many rows."""
    return Quantized(np.zeros((rows, depth), kind), np.zeros(rows, np.float32))


class Operands(NamedTuple):
    """The arrays of a product; `columns` [3, PANEL] has first sums (int32), scales and biases."""

    rows: Array
    scales: Array
    panel: Array
    columns: Array
    out: Array


def integer_product_of(group: int, accumulate: Accumulate) -> Callable[..., None]:
    """A product with a panel, by the instructions of `accumulate`, `group` numbers at a time."""

    @emitted()
    def product(
        emit: Emitter, rows: Array, scales: Array, panel: Array, columns: Array, out: Array
    ) -> None:
        """Each quantized row times a panel, as floats."""
        operands = Operands(rows, scales, panel, columns, out)
        groups = emit.divided(panel.shape[0], group)

        def tile(size: int, first: Any) -> None:
            places = [emit.plus(first, row) for row in range(size)]
            sums = emit_sums(emit, places, groups, operands, accumulate)
            emit_floats(emit, places, sums, operands)

        emit_tiles(emit, rows.shape[0], tile)

    return product


def emit_sums(
    emit: Emitter, places: list[Any], groups: Any, operands: Operands, accumulate: Accumulate
) -> list[Any]:
    """The sums of a tile over the whole depth, held in registers: [rows · VECTORS]."""
    builder = emit.builder
    offsets = [NUMBER * WIDE * vector for vector in range(VECTORS)]
    sums = [emit.place(SUMS) for _ in range(len(places) * VECTORS)]
    for vector, offset in enumerate(offsets):
        begin = emit.load_as(SUMS, emit.plus(operands.columns.address, offset))
        for each in sums[vector::VECTORS]:
            builder.store(begin, each)
    mine = [emit.at(operands.rows, place) for place in places]
    with emit.loop(groups) as k:
        here = emit.plus(operands.panel.address, emit.times(k, STEP))
        for offset in range(0, STEP, LINE):
            emit.ask_for(emit.plus(here, AHEAD * STEP + offset))
        theirs = [emit.load_as(SUMS, emit.plus(here, offset)) for offset in offsets]
        for row, address in enumerate(mine):
            one = emit.load_as(LANE, emit.plus(address, emit.times(k, NUMBER)))
            spread = emit.everywhere(one, WIDE)
            for vector, groups_there in enumerate(theirs):
                each = sums[row * VECTORS + vector]
                old = builder.load(each, typ=SUMS)
                builder.store(accumulate(emit, old, spread, groups_there), each)
    return sums


def emit_floats(emit: Emitter, places: list[Any], sums: list[Any], operands: Operands) -> None:
    """The sums of a tile, scaled back, plus the bias."""
    builder = emit.builder
    for vector in range(VECTORS):
        offset = NUMBER * WIDE * vector
        scale, bias = (
            emit.load(emit.plus(emit.at(operands.columns, kind), offset)) for kind in (1, 2)
        )
        for row, place in enumerate(places):
            own = emit.spread(emit.at(operands.scales, place))
            total = builder.load(sums[row * VECTORS + vector], typ=SUMS)
            floats = builder.sitofp(total, ir.VectorType(FLOAT, WIDE))
            value = emit.sum(emit.product(emit.product(floats, own), scale), bias)
            emit.store(value, emit.plus(emit.at(operands.out, place), offset))
