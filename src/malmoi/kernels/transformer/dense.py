"""Rows times a layer's matrix, plus its bias, and bent if asked for: in floats, int16 or int8.

Which of them it is follows from the type of the weights, when the kernel is compiled.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import overload

from malmoi.arrays import Float32Array
from malmoi.kernels.core.barrier import ThreadContext, share
from malmoi.kernels.core.jit import readily_compiled
from malmoi.kernels.transformer.activations import exact_gelu, tanh_gelu
from malmoi.kernels.transformer.gemm import PANEL, panel_product
from malmoi.kernels.transformer.gemm_int8 import byte_product, quantize_bytes
from malmoi.kernels.transformer.gemm_int16 import int16_product, quantize_int16
from malmoi.kernels.transformer.gemm_quantized import Quantized

NOT_BENT, EXACT, TANH = 0, 1, 2


class DenseLayer(NamedTuple):
    """Matrices in panels, one a layer, and their biases."""

    panels: Float32Array  # [layers, panels, depth, PANEL]
    biases: Float32Array  # [layers, columns]


class QuantizedDenseLayer(NamedTuple):
    """The same in integers; `columns` has first sums (int32), scales and biases."""

    panels: npt.NDArray[np.signedinteger[Any]]  # [layers, panels, depth, PANEL], int8 or int16
    columns: Float32Array  # [layers, panels, 3, PANEL]


def multiply(
    rows: Float32Array,
    dense: DenseLayer | QuantizedDenseLayer,
    layer: int,
    out: Float32Array,
    quantized: Quantized,
    team: ThreadContext,
    bend: int,
) -> None:
    """out = bent(rows · matrix + bias), in a thread's share of the columns."""
    raise NotImplementedError("for kernels alone")


def chosen(
    rows: Any, dense: Any, layer: Any, out: Any, quantized: Any, team: Any, bend: Any
) -> Any:
    """By the type of the weights."""
    kinds: dict[Any, Any] = {
        types.float32: multiply_floats,
        types.int16: multiply_int16,
        types.int8: multiply_bytes,
    }
    product = kinds[dense.types[0].dtype]

    def call(
        rows: Any, dense: Any, layer: Any, out: Any, quantized: Any, team: Any, bend: Any
    ) -> None:
        product(rows, dense, layer, out, quantized, team, bend)

    return call


overload(multiply)(chosen)


@readily_compiled
def multiply_floats(
    rows: Float32Array,
    dense: DenseLayer,
    layer: int,
    out: Float32Array,
    quantized: Quantized,
    team: ThreadContext,
    bend: int,
) -> None:
    """`multiply` in single precision."""
    panels, biases = dense.panels[layer], dense.biases[layer]
    first, last = share(len(panels), team)
    for panel in range(first, last):
        column = panel * PANEL
        panel_product(rows, panels[panel], biases[column:], out[:, column:])
        bend_columns(out, column, bend)


@readily_compiled
def multiply_int16(
    rows: Float32Array,
    dense: QuantizedDenseLayer,
    layer: int,
    out: Float32Array,
    quantized: Quantized,
    team: ThreadContext,
    bend: int,
) -> None:
    """`multiply` in int16."""
    panels, columns = dense.panels[layer], dense.columns[layer]
    quantize_int16(rows, min(panels.shape[1], rows.shape[1]), quantized)
    whole = quantized.rows[: len(rows)]
    first, last = share(len(panels), team)
    for panel in range(first, last):
        column = panel * PANEL
        int16_product(whole, quantized.scales, panels[panel], columns[panel], out[:, column:])
        bend_columns(out, column, bend)


@readily_compiled
def multiply_bytes(
    rows: Float32Array,
    dense: QuantizedDenseLayer,
    layer: int,
    out: Float32Array,
    quantized: Quantized,
    team: ThreadContext,
    bend: int,
) -> None:
    """`multiply` in int8."""
    panels, columns = dense.panels[layer], dense.columns[layer]
    quantize_bytes(rows, min(panels.shape[1], rows.shape[1]), quantized)
    whole = quantized.rows[: len(rows)]
    first, last = share(len(panels), team)
    for panel in range(first, last):
        column = panel * PANEL
        byte_product(whole, quantized.scales, panels[panel], columns[panel], out[:, column:])
        bend_columns(out, column, bend)


@readily_compiled
def bend_columns(out: Float32Array, column: int, bend: int) -> None:
    """GELU (Hendrycks and Gimpel 2016) of a panel that was just computed, and so is near."""
    if bend == NOT_BENT:
        return
    for i in range(len(out)):
        row = out[i, column : column + PANEL]
        if bend == EXACT:
            for j in range(PANEL):
                row[j] = exact_gelu(row[j])
        else:
            for j in range(PANEL):
                row[j] = tanh_gelu(row[j])
