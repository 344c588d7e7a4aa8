"""GEMM of quantized rows and a quantized matrix, summed in int32; the part int8 and int16 share.

    out[t, :] = (initial + Σₖ rows[t, k] · matrix[k, :]) · row_scale[t] · column_scale + bias

A group of neighbours along the depth fills 32 bits: four int8 values or two of int16. A lane
multiplies a group of a row with the same group of a column and adds the products to its sum.
A panel is therefore [depth / group, PANEL, group]; `gemm` describes the tiles. Depths that are
not a multiple of a group are padded with zeros.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir

from malmoi.arrays import Float32Array
from malmoi.kernels.core.intrinsics import llvm_intrinsic
from malmoi.kernels.core.llvm import (
    CACHE_LINE_BYTES,
    F32,
    FLOAT_BYTES,
    I32,
    SIMD_WIDTH,
    Array,
    Emitter,
)
from malmoi.kernels.transformer.gemm import PREFETCH_STEPS, TILE_VECTORS, emit_tiles

INT32_VECTOR = ir.VectorType(I32, SIMD_WIDTH)
GROUP_BYTES = FLOAT_BYTES * SIMD_WIDTH * TILE_VECTORS  # one group of each column of a panel
MIN_ROW_MAX = np.float32(1e-30)  # rows whose largest magnitude is smaller are quantized to zeros

Accumulate = Callable[[Emitter, Any, Any, Any], Any]  # sums, row's group, columns' groups → sums


class QuantizedRows(NamedTuple):
    """Quantized rows and the scale of each."""

    rows: npt.NDArray[np.integer[Any]]  # [rows, depth], uint8 or int16
    scales: Float32Array  # [rows], factors from quantized values to floats


def new_quantized_rows(rows: int, depth: int, dtype: npt.DTypeLike) -> QuantizedRows:
    """A buffer for this many rows."""
    return QuantizedRows(np.zeros((rows, depth), dtype), np.zeros(rows, np.float32))


class Operands(NamedTuple):
    """The arrays of a product; `columns` [3, PANEL] has initial sums (int32), scales and biases."""

    rows: Array
    scales: Array
    panel: Array
    columns: Array
    out: Array


def quantized_gemm(group: int, accumulate: Accumulate) -> Callable[..., None]:
    """A GEMM kernel that emits `accumulate` for `group` values at a time."""

    @llvm_intrinsic()
    def gemm(
        emit: Emitter, rows: Array, scales: Array, panel: Array, columns: Array, out: Array
    ) -> None:
        """Each quantized row times a panel, as floats."""
        operands = Operands(rows, scales, panel, columns, out)
        groups = emit.divide(panel.shape[0], group)

        def tile(size: int, first: Any) -> None:
            indices = [emit.add(first, row) for row in range(size)]
            sums = emit_sums(emit, indices, groups, operands, accumulate)
            emit_floats(emit, indices, sums, operands)

        emit_tiles(emit, rows.shape[0], tile)

    return gemm


def emit_sums(
    emit: Emitter, indices: list[Any], groups: Any, operands: Operands, accumulate: Accumulate
) -> list[Any]:
    """The sums of a tile over the whole depth, in registers: [rows · TILE_VECTORS]."""
    builder = emit.builder
    offsets = [FLOAT_BYTES * SIMD_WIDTH * vector for vector in range(TILE_VECTORS)]
    sums = [emit.alloca(INT32_VECTOR) for _ in range(len(indices) * TILE_VECTORS)]
    for vector, offset in enumerate(offsets):
        initial = emit.load_as(INT32_VECTOR, emit.add(operands.columns.address, offset))
        for each in sums[vector::TILE_VECTORS]:
            builder.store(initial, each)
    row_addresses = [emit.row_address(operands.rows, index) for index in indices]
    with emit.loop(groups) as k:
        here = emit.add(operands.panel.address, emit.multiply(k, GROUP_BYTES))
        for offset in range(0, GROUP_BYTES, CACHE_LINE_BYTES):
            emit.prefetch(emit.add(here, PREFETCH_STEPS * GROUP_BYTES + offset))
        columns = [emit.load_as(INT32_VECTOR, emit.add(here, offset)) for offset in offsets]
        for row, address in enumerate(row_addresses):
            one = emit.load_as(I32, emit.add(address, emit.multiply(k, FLOAT_BYTES)))
            values = emit.broadcast(one, SIMD_WIDTH)
            for vector, column in enumerate(columns):
                each = sums[row * TILE_VECTORS + vector]
                old = builder.load(each, typ=INT32_VECTOR)
                builder.store(accumulate(emit, old, values, column), each)
    return sums


def emit_floats(emit: Emitter, indices: list[Any], sums: list[Any], operands: Operands) -> None:
    """The sums of a tile as floats: times both scales, plus the bias."""
    builder = emit.builder
    for vector in range(TILE_VECTORS):
        offset = FLOAT_BYTES * SIMD_WIDTH * vector
        scale, bias = (
            emit.load(emit.add(emit.row_address(operands.columns, kind), offset)) for kind in (1, 2)
        )
        for row, index in enumerate(indices):
            row_scale = emit.load_broadcast(emit.row_address(operands.scales, index))
            total = builder.load(sums[row * TILE_VECTORS + vector], typ=INT32_VECTOR)
            floats = builder.sitofp(total, ir.VectorType(F32, SIMD_WIDTH))
            value = emit.fadd(emit.fmul(emit.fmul(floats, row_scale), scale), bias)
            emit.store(value, emit.add(emit.row_address(operands.out, index), offset))
