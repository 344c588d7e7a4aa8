"""Rows times a matrix in bytes, four products at a time, where the processor can (VNNI).

A row is divided by its own largest number and rounded to −127 … 127, so what a text becomes
does not depend on the texts beside it; so is each column of the matrix, once. The processor
multiplies unsigned bytes with signed ones: rows are 128 too large, and sums begin 128 times a
column's sum too small. See `products` for tiles; a panel is [depth / 4, PANEL, 4] bytes.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir

from malmoi.kernels.compiled import readily_compiled
from malmoi.kernels.curves import highest
from malmoi.kernels.emitting import FLOAT, LANE, NUMBER, WIDE, Array, Emitter, has
from malmoi.kernels.products import AHEAD, VECTORS, emit_tiles
from malmoi.kernels.text_rows import Matrix
from malmoi.kernels.verbs import emitted

Bytes = npt.NDArray[np.uint8]

USABLE = has("avx512vnni") and WIDE == 16
FOUR = 4  # bytes that are multiplied and added in one go
STEP = NUMBER * WIDE * VECTORS  # bytes of a panel for four rows
MOST, LEAST = np.float32(127), np.float32(1e-30)
ZERO = np.float32(128.5)  # what is added, and a half, since what follows the point is dropped
MULTIPLY = "llvm.x86.avx512.vpdpbusd.512"


@emitted()
def byte_product(
    emit: Emitter, rows: Array, scales: Array, panel: Array, columns: Array, out: Array
) -> None:
    """Each row, of its scale, times a panel.

    `columns` has first sums (whole numbers), scales and biases: [3, PANEL].
    """

    def tile(size: int, first: Any) -> None:
        emit_tile(emit, size, first, rows, scales, panel, columns, out)

    emit_tiles(emit, rows.shape[0], tile)


def emit_tile(
    emit: Emitter,
    size: int,
    first: Any,
    rows: Array,
    scales: Array,
    panel: Array,
    columns: Array,
    out: Array,
) -> None:
    """So many rows from the first on, against the whole depth of a panel; then back to floats."""
    builder, whole = emit.builder, ir.VectorType(LANE, WIDE)
    multiply = builder.module.declare_intrinsic(MULTIPLY, (), ir.FunctionType(whole, [whole] * 3))
    offsets = [NUMBER * WIDE * vector for vector in range(VECTORS)]
    totals = [emit.place(whole) for _ in range(size * VECTORS)]
    begins, shares, biases = (emit.at(columns, kind) for kind in range(3))
    for vector, offset in enumerate(offsets):
        begin = emit.load_as(whole, emit.plus(begins, offset))
        for total in totals[vector::VECTORS]:
            builder.store(begin, total)
    places = [emit.plus(first, row) for row in range(size)]
    mine = [emit.at(rows, place) for place in places]
    with emit.loop(emit.divided(panel.shape[0], FOUR)) as k:
        here = emit.plus(panel.address, emit.times(k, STEP))
        for offset in offsets:
            emit.ask_for(emit.plus(here, AHEAD * STEP + offset))
        theirs = [emit.load_as(whole, emit.plus(here, offset)) for offset in offsets]
        for row, address in enumerate(mine):
            four = emit.load_as(LANE, emit.plus(address, emit.times(k, FOUR)))
            spread = emit.everywhere(four, WIDE)
            for vector, numbers in enumerate(theirs):
                total = totals[row * VECTORS + vector]
                old = builder.load(total, typ=whole)
                builder.store(builder.call(multiply, [old, spread, numbers]), total)
    for vector, offset in enumerate(offsets):
        scale = emit.load(emit.plus(shares, offset))
        bias = emit.load(emit.plus(biases, offset))
        for row, place in enumerate(places):
            own = emit.spread(emit.at(scales, place))
            sums = builder.load(totals[row * VECTORS + vector], typ=whole)
            floats = builder.sitofp(sums, ir.VectorType(FLOAT, WIDE))
            value = emit.sum(emit.product(emit.product(floats, own), scale), bias)
            emit.store(value, emit.plus(emit.at(out, place), offset))


class Rounded(NamedTuple):
    """Rows as bytes, what each is to be multiplied with, and room for one row."""

    bytes: Bytes  # [rows, depth]
    scales: Matrix  # [rows]
    sizes: Matrix  # [depth]
    lanes: Matrix  # [WIDE]


@readily_compiled
def round_rows(rows: Matrix, depth: int, out: Rounded) -> None:
    """The first `depth` numbers of each row."""
    sizes = out.sizes
    for i in range(len(rows)):
        row, own = rows[i], out.bytes[i]
        for d in range(depth):
            sizes[d] = abs(row[d])
        most = max(highest(sizes, depth, out.lanes), LEAST)
        out.scales[i] = most / MOST
        share = MOST / most
        for d in range(depth):
            own[d] = np.uint8(np.int32(row[d] * share + ZERO))
