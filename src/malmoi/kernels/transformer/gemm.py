"""GEMM: rows times a matrix, with the sums in registers; emitted as LLVM instructions.

    out[t, :] = start + Σₖ rows[t, k] · matrix[k, :]

The matrix is packed in panels of as many columns as a tile of sums has: [panels, depth, PANEL].
A tile is nine rows by three vectors where vectors have sixteen floats, six by two otherwise: each
loaded value is used so often that the processor computes all the time. With few rows it would
wait for the matrix, whose cache lines are therefore prefetched.
"""

from collections.abc import Callable
from typing import Any

from malmoi.kernels.core.intrinsics import llvm_intrinsic
from malmoi.kernels.core.llvm import (
    CACHE_LINE_BYTES,
    FLOAT_BYTES,
    SIMD_WIDTH,
    Array,
    Emitter,
    has_feature,
)

IS_SUPPORTED = has_feature("avx2") and has_feature("fma")
TILE_ROWS, TILE_VECTORS = (9, 3) if SIMD_WIDTH == 16 else (6, 2)
PANEL = TILE_VECTORS * SIMD_WIDTH  # columns of a panel and of a tile
PREFETCH_STEPS = 24  # rows of a panel between the prefetch of a line and its use


def gemm_of_width(vectors: int) -> Callable[..., None]:
    """A GEMM kernel for panels of this many vectors."""

    @llvm_intrinsic()
    def gemm(emit: Emitter, rows: Array, panel: Array, start: Array, out: Array) -> None:
        """Each row times a panel, plus `start`."""

        def tile(size: int, first: Any) -> None:
            emit_tile(emit, size, vectors, first, rows, panel, start, out)

        emit_tiles(emit, rows.shape[0], tile)

    return gemm


def emit_tiles(emit: Emitter, count: Any, tile: Callable[[int, Any], None]) -> None:
    """`tile(size, first)` for all rows, in equal tiles: 10 rows are 5 and 5, not 9 and 1."""
    builder = emit.builder
    tiles = emit.divide(emit.add(count, TILE_ROWS - 1), TILE_ROWS)
    height, higher = builder.udiv(count, tiles), builder.urem(count, tiles)
    with emit.loop(tiles) as index:
        first = emit.add(emit.multiply(index, height), emit.minimum(index, higher))
        extra = builder.zext(builder.icmp_signed("<", index, higher), index.type)
        for size in range(1, TILE_ROWS + 1):
            same = builder.icmp_signed("==", emit.add(height, extra), emit.integer(size))
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
    """`size` rows from row `first` on, times the whole depth of a panel."""
    sums = emit.new_sums(size * vectors)
    offsets = [FLOAT_BYTES * SIMD_WIDTH * vector for vector in range(vectors)]
    for vector, offset in enumerate(offsets):
        initial = emit.load(emit.add(start.address, offset))
        for each in sums[vector::vectors]:
            emit.builder.store(initial, each)
    indices = [emit.add(first, row) for row in range(size)]
    row_addresses = [emit.row_address(rows, index) for index in indices]
    with emit.loop(panel.shape[0]) as k:
        here = emit.row_address(panel, k)
        ahead = emit.row_address(panel, emit.add(k, PREFETCH_STEPS))
        for line in range(0, FLOAT_BYTES * SIMD_WIDTH * vectors, CACHE_LINE_BYTES):
            emit.prefetch(emit.add(ahead, line))
        columns = [emit.load(emit.add(here, offset)) for offset in offsets]
        for row, address in enumerate(row_addresses):
            value = emit.load_broadcast(emit.add(address, emit.multiply(k, FLOAT_BYTES)))
            for vector, numbers in enumerate(columns):
                emit.fma_to_sum(sums[row * vectors + vector], value, numbers)
    for row, index in enumerate(indices):
        for vector, offset in enumerate(offsets):
            value = emit.load_sum(sums[row * vectors + vector])
            emit.store(value, emit.add(emit.row_address(out, index), offset))


gemm_panel = gemm_of_width(TILE_VECTORS)
gemm_two_vectors = gemm_of_width(2)  # for few columns
gemm_one_vector = gemm_of_width(1)
