"""The head that predicts tokens from hidden states: a dense layer, GELU, layer norm, the table.

Its last layer is the model's own table of tokens with a bias. The rest is read from checkpoints
that have such a head, and new for all others: an identity, and the frequencies of the corpus as
the bias, so that an untrained head predicts about as well as they do.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.config import Config
from malmoi.encode.checkpoint.weights import short_name
from malmoi.errors import InvalidFileError
from malmoi.files.tensors import Tensors
from malmoi.tune.network.linear import new_linear
from malmoi.tune.network.sentence_network import APPROXIMATIONS, SentenceNetwork


@dataclass(frozen=True)
class HeadNames:
    """The names of the tensors of a head in a checkpoint; `table` is a copy of the tokens'."""

    dense: str
    norm: str
    bias: str
    table: str
    bias_copy: str = ""
    gelu: str = "exact"


LM_HEAD = HeadNames(
    "lm_head.dense", "lm_head.layer_norm", "lm_head.bias",
    "lm_head.decoder.weight", "lm_head.decoder.bias",
)  # fmt: skip
NAMES = {
    "bert": HeadNames(
        "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
        "cls.predictions.bias", "cls.predictions.decoder.weight", "cls.predictions.decoder.bias",
        gelu="",  # that of the layers
    ),
    "distilbert": HeadNames(
        "vocab_transform", "vocab_layer_norm", "vocab_projector.bias", "vocab_projector.weight",
        gelu="",
    ),
    "electra": HeadNames(
        "generator_predictions.dense", "generator_predictions.LayerNorm",
        "generator_lm_head.bias", "generator_lm_head.weight",
    ),
}  # fmt: skip


class PredictionHead(nn.Module):
    """Hidden states to scores of all tokens; the table is that of a network, and not its own."""

    def __init__(
        self, config: Config, weights: Tensors, bias: Float32Array, names: HeadNames
    ) -> None:
        super().__init__()
        self.names, self.epsilon = names, config.epsilon
        self.approximation = APPROXIMATIONS[names.gelu or config.gelu]
        self.dense = new_linear(weights["dense.weight"], weights["dense.bias"])
        self.norm_weight = nn.Parameter(_copy(weights["norm.weight"]))
        self.norm_bias = nn.Parameter(_copy(weights["norm.bias"]))
        self.bias = nn.Parameter(_copy(bias))

    def forward(self, rows: Tensor, table: Tensor) -> Tensor:
        """[n, dim] and the table [tokens, width] to scores [n, tokens]."""
        inner = functional.gelu(self.dense(rows), approximate=self.approximation)
        normed = functional.layer_norm(
            inner, self.norm_weight.shape, self.norm_weight, self.norm_bias, self.epsilon
        )
        return functional.linear(normed, table, self.bias)

    def tensors(self, table: Float32Array) -> Tensors:
        """All tensors under the names of a checkpoint."""
        names = self.names
        named = {
            f"{names.dense}.weight": self.dense.weight,
            f"{names.dense}.bias": self.dense.bias,
            f"{names.norm}.weight": self.norm_weight,
            f"{names.norm}.bias": self.norm_bias,
            names.bias: self.bias,
        }
        arrays: Tensors = {name: weight.detach().numpy() for name, weight in named.items()}
        return arrays | {names.table: table, names.bias_copy: arrays[names.bias]}


def head_of(network: SentenceNetwork, saved: Tensors, frequencies: Float32Array) -> PredictionHead:
    """The head in the tensors of a checkpoint, or a new one.

    `frequencies` [tokens] are those of the corpus.
    """
    config = network.config
    names = NAMES.get(config.family, LM_HEAD)
    tensors = {short_name(name): tensor for name, tensor in saved.items()}
    if f"{names.dense}.weight" not in tensors:
        smoothed = (frequencies + 1) / (frequencies + 1).sum()
        return PredictionHead(config, _identity(network), np.log(smoothed), names)
    theirs = {"dense": names.dense, "norm": names.norm}
    shapes = {"dense.weight": (config.embedding_size, config.dim)}
    weights: Tensors = {}
    for ours, prefix in theirs.items():
        for kind in ("weight", "bias"):
            name, key = f"{prefix}.{kind}", f"{ours}.{kind}"
            shape = shapes.get(key, (config.embedding_size,))
            weights[key] = _checked(tensors, name, shape)
    return PredictionHead(
        config, weights, _checked(tensors, names.bias, (config.vocab_size,)), names
    )


def _identity(network: SentenceNetwork) -> Tensors:
    """A layer that changes nothing, or that inverts the projection of the embeddings."""
    width, dim = network.config.embedding_size, network.config.dim
    dense = np.eye(width, dim, dtype=np.float32)
    if width != dim:
        dense = network.embeddings["embedding_projection/weight"].detach().numpy().T
    ones, zeros = np.ones(width, np.float32), np.zeros(width, np.float32)
    return {"dense.weight": dense, "dense.bias": zeros, "norm.weight": ones, "norm.bias": zeros}


def _checked(tensors: Tensors, name: str, shape: tuple[int, ...]) -> Float32Array:
    if name not in tensors or tensors[name].shape != shape:
        state = f"has the shape {tensors[name].shape}" if name in tensors else "is missing"
        raise InvalidFileError(
            f"the head of the model is damaged: '{name}' {state}, not {shape}: download it again"
        )
    return tensors[name].astype(np.float32, copy=False)


def _copy(array: Float32Array) -> Tensor:
    return torch.from_numpy(np.array(array, np.float32))
