"""Dense layers: rows times a weight matrix, plus bias, then GELU where the layer has one.

Weights are float32, int16 or int8; Numba selects the kernel by their type at compile time.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import overload

from malmoi.arrays import Float32Array
from malmoi.kernels.core.barrier import ThreadContext, partition
from malmoi.kernels.core.jit import jit_finite
from malmoi.kernels.transformer.activations import gelu_exact, gelu_tanh
from malmoi.kernels.transformer.gemm import PANEL, gemm_panel
from malmoi.kernels.transformer.gemm_int8 import gemm_int8, quantize_rows_int8
from malmoi.kernels.transformer.gemm_int16 import gemm_int16, quantize_rows_int16
from malmoi.kernels.transformer.gemm_quantized import QuantizedRows

NO_ACTIVATION, GELU_EXACT, GELU_TANH = 0, 1, 2


class DenseLayer(NamedTuple):
    """Packed float32 weights and biases of one dense layer per transformer layer."""

    panels: Float32Array  # [layers, panels, depth, PANEL]
    biases: Float32Array  # [layers, columns]


class QuantizedDenseLayer(NamedTuple):
    """The same in integers; `columns` has initial sums (int32), scales and biases."""

    panels: npt.NDArray[np.signedinteger[Any]]  # [layers, panels, depth, PANEL], int8 or int16
    columns: Float32Array  # [layers, panels, 3, PANEL]


def apply_dense(
    rows: Float32Array,
    dense: DenseLayer | QuantizedDenseLayer,
    layer: int,
    out: Float32Array,
    workspace: QuantizedRows,
    context: ThreadContext,
    activation: int,
) -> None:
    """out = activation(rows · weight + bias), for this thread's part of the columns."""
    raise NotImplementedError("only kernels can call this")


def choose_dense(
    rows: Any, dense: Any, layer: Any, out: Any, workspace: Any, context: Any, activation: Any
) -> Any:
    """The kernel for the type of the weights."""
    is_float = dense.types[0].dtype == types.float32
    kernel: Any = dense_float32 if is_float else dense_quantized

    def call(
        rows: Any, dense: Any, layer: Any, out: Any, workspace: Any, context: Any, activation: Any
    ) -> None:
        kernel(rows, dense, layer, out, workspace, context, activation)

    return call


@jit_finite
def dense_float32(
    rows: Float32Array,
    dense: DenseLayer,
    layer: int,
    out: Float32Array,
    workspace: QuantizedRows,
    context: ThreadContext,
    activation: int,
) -> None:
    """`apply_dense` in single precision."""
    panels, biases = dense.panels[layer], dense.biases[layer]
    first, stop = partition(len(panels), context)
    for panel in range(first, stop):
        column = panel * PANEL
        gemm_panel(rows, panels[panel], biases[column:], out[:, column:])
        apply_gelu(out, column, activation)


@jit_finite
def dense_quantized(
    rows: Float32Array,
    dense: QuantizedDenseLayer,
    layer: int,
    out: Float32Array,
    workspace: QuantizedRows,
    context: ThreadContext,
    activation: int,
) -> None:
    """`apply_dense` in int8 or int16."""
    panels, columns = dense.panels[layer], dense.columns[layer]
    quantize_rows(rows, min(panels.shape[1], rows.shape[1]), workspace)
    quantized = workspace.rows[: len(rows)]
    first, stop = partition(len(panels), context)
    for panel in range(first, stop):
        column = panel * PANEL
        gemm_integers(quantized, workspace.scales, panels[panel], columns[panel], out[:, column:])
        apply_gelu(out, column, activation)


def quantize_rows(rows: Float32Array, depth: int, out: QuantizedRows) -> None:
    """Quantize the first `depth` values of each row to the type of `out`."""
    raise NotImplementedError("only kernels can call this")


def choose_quantize(rows: Any, depth: Any, out: Any) -> Any:
    """The kernel for the type of quantized rows."""
    kernel: Any = quantize_rows_int16 if out.types[0].dtype == types.int16 else quantize_rows_int8

    def call(rows: Any, depth: Any, out: Any) -> None:
        kernel(rows, depth, out)

    return call


def gemm_integers(
    rows: npt.NDArray[np.integer[Any]],
    scales: Float32Array,
    panel: npt.NDArray[np.signedinteger[Any]],
    columns: Float32Array,
    out: Float32Array,
) -> None:
    """Quantized rows times a panel of the same type."""
    raise NotImplementedError("only kernels can call this")


def choose_gemm(rows: Any, scales: Any, panel: Any, columns: Any, out: Any) -> Any:
    """The kernel for the type of the panel."""
    kernel: Any = gemm_int16 if panel.dtype == types.int16 else gemm_int8

    def call(rows: Any, scales: Any, panel: Any, columns: Any, out: Any) -> None:
        kernel(rows, scales, panel, columns, out)

    return call


@jit_finite
def apply_gelu(out: Float32Array, column: int, activation: int) -> None:
    """GELU (Hendrycks and Gimpel 2016) of a panel that was just computed and is still cached."""
    if activation == NO_ACTIVATION:
        return
    for i in range(len(out)):
        row = out[i, column : column + PANEL]
        if activation == GELU_EXACT:
            for j in range(PANEL):
                row[j] = gelu_exact(row[j])
        else:
            for j in range(PANEL):
                row[j] = gelu_tanh(row[j])


overload(apply_dense)(choose_dense)
overload(quantize_rows)(choose_quantize)
overload(gemm_integers)(choose_gemm)
