"""Pools several layers into one: a single layer, sum, mean, concatenation or weighted sum.

Knows nothing of texts or models.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError

LayerPooling = Literal["single", "sum", "mean", "concat", "weighted"]
LAYER_POOLINGS: tuple[LayerPooling, ...] = get_args(LayerPooling)


def pool_layers(
    layers: Sequence[Float32Array],
    layer_pooling: LayerPooling,
    *,
    weights: Sequence[float] = (),
    scale: float = 1.0,
) -> Float32Array:
    """Layers, each [tokens, dim], to [tokens, dim], or [tokens, layers · dim] with `concat`.

    `weighted` is the scalar mix of ELMo (Peters et al. 2018, eq. 1):
    scale · Σ softmax(weights)ⱼ hⱼ.
    """
    if layer_pooling == "single":
        if len(layers) != 1:
            raise InvalidArgumentError(
                f"layer_pooling='single' needs one layer, not {len(layers)}: choose one layer, or"
                " pool them by sum, mean, concat or weighted"
            )
        return layers[0]
    if layer_pooling == "concat":
        return np.concatenate(layers, axis=-1)
    if layer_pooling == "weighted":
        return _weighted_sum(layers, softmax(weights, len(layers)) * np.float32(scale))
    share = 1 / len(layers) if layer_pooling == "mean" else 1.0
    return _weighted_sum(layers, np.full(len(layers), share, np.float32))


def softmax(weights: Sequence[float], count: int) -> Float32Array:
    """Weights to positive shares that sum to 1."""
    if len(weights) != count:
        raise InvalidArgumentError(f"{len(weights)} weights for {count} layers: pass one per layer")
    with np.errstate(over="ignore"):  # a much smaller weight has a share of 0
        powers = np.exp(np.asarray(weights, np.float64) - max(weights))
    shares: Float32Array = (powers / powers.sum()).astype(np.float32)
    return shares


def _weighted_sum(layers: Sequence[Float32Array], shares: Float32Array) -> Float32Array:
    total: Float32Array = layers[0] * shares[0]
    for layer, share in zip(layers[1:], shares[1:], strict=True):
        total += layer * share
    return total
