"""A model's weights as its compiled kernel wants them: in panels of floats, int16 or int8.

Imports Numba, by way of the kernels.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, IntegerArray
from malmoi.encode.checkpoint.config import Config
from malmoi.encode.checkpoint.weights import Weights
from malmoi.encode.protocol import Arithmetic
from malmoi.encode.runtime.relative_positions import distance_table
from malmoi.kernels.core.jit import fixed
from malmoi.kernels.transformer import gemm_int8 as byte_products
from malmoi.kernels.transformer import gemm_int16 as int16_products
from malmoi.kernels.transformer.dense import EXACT, TANH, DenseLayer, QuantizedDenseLayer
from malmoi.kernels.transformer.gemm import PANEL
from malmoi.kernels.transformer.gemm_int16 import int16_rows
from malmoi.kernels.transformer.layers import Norms, TransformerWeights

Affine = tuple[Float32Array, Float32Array]  # a matrix [in, out] and its bias [out]
Laid = Callable[[list[Affine]], DenseLayer | QuantizedDenseLayer]


def network_of(weights: Weights, config: Config, arithmetic: Arithmetic) -> TransformerWeights:
    """Everything the kernel reads; what is not rearranged stays in the mapped file."""
    layouts: dict[Arithmetic, Laid] = {
        "float32": lay_floats,
        "int16": lay_int16,
        "int8": lay_bytes,
    }
    laid = layouts[arithmetic]
    positions = weights["positions"][config.skipped :]
    segments = weights.get("segments", np.zeros((1, config.embedding), np.float32))
    places = (segments[:, np.newaxis] + positions).reshape(-1, config.embedding)
    distances = np.zeros((config.heads, 0), np.float32)
    if config.buckets:
        distances = np.ascontiguousarray(distance_table(weights["distances"], config.positions)[0])
    projects = config.embedding != config.dim

    def every(role: str) -> list[Affine]:
        return [_affine(weights, f"layer.{layer}.{role}") for layer in range(config.layers)]

    return TransformerWeights(
        words=fixed(np.ascontiguousarray(weights["words"])),
        places=fixed(places),
        table_norm=_norms([_pair(weights, "table_norm")]),
        project=lay_floats([_affine(weights, "project")] if projects else []),
        joined=laid([_joined(weights, config, layer) for layer in range(config.layers)]),
        attended=laid(every("attended")),
        attended_norm=_layer_norms(weights, config, "attended_norm"),
        inner=laid(every("inner")),
        outer=laid(every("outer")),
        outer_norm=_layer_norms(weights, config, "outer_norm"),
        distances=fixed(distances),
        heads=config.heads,
        epsilon=np.float32(config.epsilon),
        bend=EXACT if config.gelu == "exact" else TANH,
    )


def lay_floats(layers: list[Affine]) -> DenseLayer:
    """Matrices in panels of floats: [layers, panels, depth, PANEL]; zeros fill the last panel."""
    if not layers:
        return DenseLayer(
            fixed(np.zeros((1, 0, 0, PANEL), np.float32)), fixed(np.zeros((1, 0), "f4"))
        )
    panels = [_in_panels(matrix).transpose(1, 0, 2) for matrix, _ in layers]
    return DenseLayer(_stacked(panels), _stacked(_filled(bias) for _, bias in layers))


def lay_int16(layers: list[Affine]) -> QuantizedDenseLayer:
    """The same in int16, columns quantized as rows will be: [layers, panels, depth, PANEL]."""
    quantized = [(*_int16(matrix), bias) for matrix, bias in layers]
    return _in_groups(quantized, int16_products.GROUP, 0)


def lay_bytes(layers: list[Affine]) -> QuantizedDenseLayer:
    """The same in int8, each column divided by its largest magnitude."""
    quantized = [(*_int8(matrix), bias) for matrix, bias in layers]
    return _in_groups(quantized, byte_products.GROUP, byte_products.OFFSET)


def _int16(matrix: Float32Array) -> tuple[IntegerArray, Float32Array]:
    """A matrix quantized, and the scale of each column."""
    quantized = int16_rows(np.ascontiguousarray(matrix.T))
    return quantized.rows.T, quantized.scales


def _int8(matrix: Float32Array) -> tuple[IntegerArray, Float32Array]:
    most = byte_products.MOST
    scales = np.maximum(np.abs(matrix).max(axis=0) / most, np.float32(1e-30))
    return np.rint(matrix / scales).astype(np.int8), scales


def _in_groups(
    layers: list[tuple[IntegerArray, Float32Array, Float32Array]], group: int, offset: int
) -> QuantizedDenseLayer:
    """Quantized matrices [depth, columns], their scales and biases, in panels of groups.

    `offset` is how much too large the numbers of rows will be: first sums make up for it.
    """
    panels, columns = [], []
    for matrix, *rest in layers:
        padded = np.pad(matrix, ((0, -len(matrix) % group), (0, 0)))
        apart = _in_panels(padded)  # [depth, panels, PANEL]
        depth, count, _ = apart.shape
        groups = apart.reshape(depth // group, group, count, PANEL).transpose(2, 0, 3, 1)
        panels.append(groups.reshape(count, depth, PANEL))
        begins = (-offset * apart.sum(axis=0, dtype=np.int64)).astype(np.int32)
        others = [_filled(numbers).reshape(count, PANEL) for numbers in rest]
        columns.append(np.stack([begins.view(np.float32), *others], axis=1))
    return QuantizedDenseLayer(_stacked(panels), _stacked(columns))


def _in_panels(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """[depth, columns] as [depth, panels, PANEL]."""
    filled = np.pad(matrix, ((0, 0), (0, -matrix.shape[1] % PANEL)))
    return filled.reshape(len(matrix), -1, PANEL)


def _filled(numbers: Float32Array) -> Float32Array:
    filled: Float32Array = np.pad(numbers, (0, -len(numbers) % PANEL))
    return filled


def _stacked(arrays: Iterable[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return fixed(np.ascontiguousarray(np.stack(list(arrays))))


def _joined(weights: Weights, config: Config, layer: int) -> Affine:
    """Queries, keys and values side by side; queries divided by the root of a head's size."""
    root = np.float32(1 / np.sqrt(config.dim // config.heads))
    parts = [_affine(weights, f"layer.{layer}.{role}") for role in ("query", "key", "value")]
    parts[0] = (parts[0][0] * root, parts[0][1] * root)
    return np.hstack([matrix for matrix, _ in parts]), np.hstack([bias for _, bias in parts])


def _affine(weights: Weights, name: str) -> Affine:
    weight, bias = _pair(weights, name)
    return weight.T, bias


def _pair(weights: Weights, name: str) -> Affine:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def _layer_norms(weights: Weights, config: Config, role: str) -> Norms:
    return _norms([_pair(weights, f"layer.{layer}.{role}") for layer in range(config.layers)])


def _norms(pairs: list[Affine]) -> Norms:
    return Norms(_stacked(gain for gain, _ in pairs), _stacked(shift for _, shift in pairs))
