"""Rows times a matrix, its sums held in registers while the matrix goes past; written for LLVM.

    out[t, :] = start + Σₖ rows[t, k] · matrix[k, :]

The matrix lies in panels of as many columns as a tile of sums has: [panels, depth, PANEL]. A
tile is nine rows by three vectors where vectors have sixteen numbers, six by two otherwise:
each number loaded is used so often that the processor adds and multiplies all the time. With
few rows it would wait for the matrix, whose lines are therefore asked for ahead.
"""

from collections.abc import Callable
from typing import Any

from malmoi.kernels.core.intrinsics import emitted
from malmoi.kernels.core.llvm import NUMBER, WIDE, Array, Emitter, has

USABLE = has("avx2") and has("fma")
ROWS, VECTORS = (9, 3) if WIDE == 16 else (6, 2)
PANEL = VECTORS * WIDE  # columns of a tile
AHEAD = 24  # steps down a panel: what is asked for is there when it is needed
LINE = 64  # bytes of a line of the cache


def product_of(vectors: int) -> Callable[..., None]:
    """A product with a panel that is so many vectors wide."""

    @emitted()
    def product(emit: Emitter, rows: Array, panel: Array, start: Array, out: Array) -> None:
        """Each row times a panel, from `start` on."""

        def tile(size: int, first: Any) -> None:
            emit_tile(emit, size, vectors, first, rows, panel, start, out)

        emit_tiles(emit, rows.shape[0], tile)

    return product


def emit_tiles(emit: Emitter, count: Any, tile: Callable[[int, Any], None]) -> None:
    """`tile(size, first)` for all rows, equally high ones: 10 rows are 5 and 5, not 9 and 1."""
    builder = emit.builder
    tiles = emit.divided(emit.plus(count, ROWS - 1), ROWS)
    height, higher = builder.udiv(count, tiles), builder.urem(count, tiles)
    with emit.loop(tiles) as number:
        first = emit.plus(emit.times(number, height), emit.smaller(number, higher))
        more = builder.zext(builder.icmp_signed("<", number, higher), number.type)
        for size in range(1, ROWS + 1):
            same = builder.icmp_signed("==", emit.plus(height, more), emit.number(size))
            with builder.if_then(same):
                tile(size, first)


def emit_tile(
    emit: Emitter,
    size: int,
    vectors: int,
    first: Any,
    rows: Array,
    panel: Array,
    start: Array,
    out: Array,
) -> None:
    """So many rows from the first on, against the whole depth of a panel."""
    totals = emit.totals(size * vectors)
    columns = [NUMBER * WIDE * vector for vector in range(vectors)]
    for vector, column in enumerate(columns):
        begin = emit.load(emit.plus(start.address, column))
        for total in totals[vector::vectors]:
            emit.builder.store(begin, total)
    places = [emit.plus(first, row) for row in range(size)]
    mine = [emit.at(rows, place) for place in places]
    with emit.loop(panel.shape[0]) as k:
        here, coming = emit.at(panel, k), emit.at(panel, emit.plus(k, AHEAD))
        for line in range(0, NUMBER * WIDE * vectors, LINE):
            emit.ask_for(emit.plus(coming, line))
        theirs = [emit.load(emit.plus(here, column)) for column in columns]
        for row, address in enumerate(mine):
            number = emit.spread(emit.plus(address, emit.times(k, NUMBER)))
            for vector, numbers in enumerate(theirs):
                emit.add_product(totals[row * vectors + vector], number, numbers)
    for row, place in enumerate(places):
        for vector, column in enumerate(columns):
            value = emit.total(totals[row * vectors + vector])
            emit.store(value, emit.plus(emit.at(out, place), column))


panel_product = product_of(VECTORS)
pair_product = product_of(2)  # two vectors wide, for few columns
vector_product = product_of(1)
