"""Several layers made one: the one there is, their sum, mean, concatenation or weighted sum.

Knows nothing of texts or models.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError

Mix = Literal["single", "sum", "mean", "concat", "weighted"]
MIXES: tuple[Mix, ...] = get_args(Mix)


def mix_layers(
    layers: Sequence[Float32Array], mix: Mix, *, weights: Sequence[float] = (), scale: float = 1.0
) -> Float32Array:
    """Layers, each [pieces, dim], as [pieces, dim], or [pieces, layers · dim] with `concat`.

    `weighted` is that of ELMo (Peters et al. 2018, equation 1): scale · Σ softmax(weights)ⱼ hⱼ.
    """
    if mix == "single":
        if len(layers) != 1:
            raise InvalidArgumentError(
                f"{len(layers)} layers were asked for and none of them is to be mixed:"
                " ask for one, or mix them by sum, mean, concat or weighted"
            )
        return layers[0]
    if mix == "concat":
        return np.concatenate(layers, axis=-1)
    if mix == "weighted":
        return _summed(layers, softmax(weights, len(layers)) * np.float32(scale))
    share = 1 / len(layers) if mix == "mean" else 1.0
    return _summed(layers, np.full(len(layers), share, np.float32))


def softmax(weights: Sequence[float], count: int) -> Float32Array:
    """Weights as positive shares that sum to 1."""
    if len(weights) != count:
        raise InvalidArgumentError(
            f"{len(weights)} weights for {count} layers: each layer needs one"
        )
    with np.errstate(over="ignore"):  # a weight that much smaller has no share
        raised = np.exp(np.asarray(weights, np.float64) - max(weights))
    shares: Float32Array = (raised / raised.sum()).astype(np.float32)
    return shares


def _summed(layers: Sequence[Float32Array], shares: Float32Array) -> Float32Array:
    total: Float32Array = layers[0] * shares[0]
    for layer, share in zip(layers[1:], shares[1:], strict=True):
        total += layer * share
    return total
