"""Packs a model's weights for the compiled kernels: in panels of float32, int16 or int8.

Imports Numba through the kernels.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, IntegerArray
from malmoi.encode.checkpoint.config import Config
from malmoi.encode.checkpoint.weights import Weights, combined_positions
from malmoi.encode.protocol import Arithmetic
from malmoi.encode.runtime.relative_positions import relative_position_bias
from malmoi.kernels.core.jit import readonly_view
from malmoi.kernels.transformer import gemm_int8 as int8_kernels
from malmoi.kernels.transformer import gemm_int16 as int16_kernels
from malmoi.kernels.transformer.dense import (
    GELU_EXACT,
    GELU_TANH,
    DenseLayer,
    QuantizedDenseLayer,
)
from malmoi.kernels.transformer.gemm import PANEL
from malmoi.kernels.transformer.gemm_int16 import quantized_int16
from malmoi.kernels.transformer.layers import LayerNormWeights, TransformerWeights

Linear = tuple[Float32Array, Float32Array]  # a weight matrix [in, out] and its bias [out]
PackLayers = Callable[[list[Linear]], DenseLayer | QuantizedDenseLayer]


def pack_weights(weights: Weights, config: Config, arithmetic: Arithmetic) -> TransformerWeights:
    """All weights for the kernels; arrays that are not packed stay in the memory-mapped file."""
    packers: dict[Arithmetic, PackLayers] = {
        "float32": pack_float32,
        "int16": pack_int16,
        "int8": pack_int8,
    }
    packed = packers[arithmetic]
    bias = np.zeros((config.heads, 0), np.float32)
    if config.relative_buckets:
        table = relative_position_bias(weights["relative_position_bias"], config.positions)
        bias = np.ascontiguousarray(table[0])
    projects = config.embedding_size != config.dim

    def all_layers(role: str) -> list[Linear]:
        return [_linear(weights, f"layer.{layer}.{role}") for layer in range(config.layers)]

    return TransformerWeights(
        word_embeddings=readonly_view(np.ascontiguousarray(weights["word_embeddings"])),
        position_embeddings=readonly_view(combined_positions(weights, config)),
        embedding_norm=_stack_norms([_pair(weights, "embedding_norm")]),
        embedding_projection=pack_float32(
            [_linear(weights, "embedding_projection")] if projects else []
        ),
        qkv=packed([_qkv(weights, config, layer) for layer in range(config.layers)]),
        attn_out=packed(all_layers("attn_out")),
        attn_norm=_layer_norms(weights, config, "attn_norm"),
        ffn_up=packed(all_layers("ffn_up")),
        ffn_down=packed(all_layers("ffn_down")),
        ffn_norm=_layer_norms(weights, config, "ffn_norm"),
        relative_position_bias=readonly_view(bias),
        heads=config.heads,
        epsilon=np.float32(config.epsilon),
        activation=GELU_EXACT if config.gelu == "exact" else GELU_TANH,
    )


def pack_float32(layers: list[Linear]) -> DenseLayer:
    """Float panels [layers, panels, depth, PANEL]; zeros fill the last panel."""
    if not layers:
        return DenseLayer(
            readonly_view(np.zeros((1, 0, 0, PANEL), np.float32)),
            readonly_view(np.zeros((1, 0), "f4")),
        )
    panels = [_to_panels(matrix).transpose(1, 0, 2) for matrix, _ in layers]
    return DenseLayer(_stack(panels), _stack(_pad_to_panel(bias) for _, bias in layers))


def pack_int16(layers: list[Linear]) -> QuantizedDenseLayer:
    """The same in int16, columns quantized like rows: [layers, panels, depth, PANEL]."""
    quantized = [(*_quantize_int16(matrix), bias) for matrix, bias in layers]
    return _pack_groups(quantized, int16_kernels.GROUP, 0)


def pack_int8(layers: list[Linear]) -> QuantizedDenseLayer:
    """The same in int8, each column divided by its largest magnitude."""
    quantized = [(*_quantize_int8(matrix), bias) for matrix, bias in layers]
    return _pack_groups(quantized, int8_kernels.GROUP, int8_kernels.ZERO_POINT)


def _quantize_int16(matrix: Float32Array) -> tuple[IntegerArray, Float32Array]:
    """A quantized matrix, and the scale of each column."""
    quantized = quantized_int16(np.ascontiguousarray(matrix.T))
    return quantized.rows.T, quantized.scales


def _quantize_int8(matrix: Float32Array) -> tuple[IntegerArray, Float32Array]:
    scales = np.maximum(np.abs(matrix).max(axis=0) / int8_kernels.MAX_INT8, np.float32(1e-30))
    return np.rint(matrix / scales).astype(np.int8), scales


def _pack_groups(
    layers: list[tuple[IntegerArray, Float32Array, Float32Array]], group: int, zero_point: int
) -> QuantizedDenseLayer:
    """Quantized matrices [depth, columns], their scales and biases, in panels of groups.

    Quantized rows are too large by `zero_point`; the initial sums compensate for it.
    """
    panels, columns = [], []
    for matrix, *rest in layers:
        padded = np.pad(matrix, ((0, -len(matrix) % group), (0, 0)))
        in_panels = _to_panels(padded)  # [depth, panels, PANEL]
        depth, count, _ = in_panels.shape
        groups = in_panels.reshape(depth // group, group, count, PANEL).transpose(2, 0, 3, 1)
        panels.append(groups.reshape(count, depth, PANEL))
        initial = (-zero_point * in_panels.sum(axis=0, dtype=np.int64)).astype(np.int32)
        others = [_pad_to_panel(numbers).reshape(count, PANEL) for numbers in rest]
        columns.append(np.stack([initial.view(np.float32), *others], axis=1))
    return QuantizedDenseLayer(_stack(panels), _stack(columns))


def _to_panels(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """[depth, columns] to [depth, panels, PANEL]."""
    padded = np.pad(matrix, ((0, 0), (0, -matrix.shape[1] % PANEL)))
    return padded.reshape(len(matrix), -1, PANEL)


def _pad_to_panel(numbers: Float32Array) -> Float32Array:
    padded: Float32Array = np.pad(numbers, (0, -len(numbers) % PANEL))
    return padded


def _stack(arrays: Iterable[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return readonly_view(np.ascontiguousarray(np.stack(list(arrays))))


def _qkv(weights: Weights, config: Config, layer: int) -> Linear:
    """Queries, keys and values side by side; queries divided by the root of the head size."""
    scale = np.float32(1 / np.sqrt(config.dim // config.heads))
    parts = [_linear(weights, f"layer.{layer}.{role}") for role in ("query", "key", "value")]
    parts[0] = (parts[0][0] * scale, parts[0][1] * scale)
    return np.hstack([matrix for matrix, _ in parts]), np.hstack([bias for _, bias in parts])


def _linear(weights: Weights, name: str) -> Linear:
    weight, bias = _pair(weights, name)
    return weight.T, bias


def _pair(weights: Weights, name: str) -> Linear:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def _layer_norms(weights: Weights, config: Config, role: str) -> LayerNormWeights:
    return _stack_norms([_pair(weights, f"layer.{layer}.{role}") for layer in range(config.layers)])


def _stack_norms(pairs: list[Linear]) -> LayerNormWeights:
    return LayerNormWeights(
        _stack(weight for weight, _ in pairs), _stack(bias for _, bias in pairs)
    )
