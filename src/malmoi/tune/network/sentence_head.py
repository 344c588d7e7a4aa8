"""From the last hidden states to one vector per text: pooling, dense layers, normalization.

These are the modules of a sentence-transformers folder; without any, the pooling is the mean.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from malmoi.encode.checkpoint.sentence_transformers import DenseModule, SentenceModules
from malmoi.encode.pooling.groups import DIVISOR_POWERS
from malmoi.tune.network.linear import new_linear
from malmoi.tune.network.packing import PackedTexts

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "Identity": lambda rows: rows,
    "Tanh": torch.tanh,
    "ReLU": torch.relu,
    "GELU": functional.gelu,
}


class SentenceHead(nn.Module):
    """The modules of a folder after its transformer."""

    def __init__(self, modules: SentenceModules) -> None:
        super().__init__()
        self.pools, self.truncate_dim = modules.pools, modules.truncate_dim
        dense = [step for step in modules.steps if isinstance(step, DenseModule)]
        layers = [new_linear(step.weight, step.bias) for step in dense]
        self.dense = nn.ModuleList(layers)
        for step, layer in zip(dense, layers, strict=True):  # a folder may have no bias
            layer.bias.requires_grad_(bool(step.bias.any()))
        # The activation of a dense layer, or None where vectors are normalized.
        self.steps = [getattr(step, "activation", None) for step in modules.steps]

    def forward(self, rows: Tensor, texts: PackedTexts) -> Tensor:
        """[tokens, dim] to [texts, dim]."""
        vectors = torch.cat([_pool(rows, texts, pool) for pool in self.pools], dim=1)
        dense = iter(self.dense)
        for activation in self.steps:
            if activation is None:
                vectors = functional.normalize(vectors, dim=1)
            else:
                vectors = ACTIVATIONS[activation](next(dense)(vectors))
        return vectors[:, : self.truncate_dim]


def _pool(rows: Tensor, texts: PackedTexts, pool: str) -> Tensor:
    ends = texts.lengths.cumsum(0)
    if pool in ("cls", "first"):
        return rows[ends - texts.lengths]
    if pool == "last":
        return rows[ends - 1]
    pooled = rows.new_zeros(len(texts.lengths), rows.shape[1])
    if pool == "max":
        owners = texts.owners[:, None].expand_as(rows)
        return pooled.scatter_reduce(0, owners, rows, "amax", include_self=False)
    sums = pooled.index_add(0, texts.owners, rows)
    divisors: Tensor = texts.lengths.to(rows.dtype) ** DIVISOR_POWERS[pool]
    return sums / divisors[:, None]
