"""TrainedLinear: a linear layer that may multiply in bfloat16 while it is trained.

Weights, their gradients, sums inside of products and everything between linear layers stay
float32. In evaluation, as for dev scores, the products are float32 too.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from malmoi.arrays import Float32Array

BFLOAT16_CHECKS = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")  # torch's, if it has them


def has_bfloat16() -> bool:
    """Whether the processor multiplies matrices of bfloat16 itself, which is twice as fast."""
    return any(getattr(torch.cpu, check, bool)() for check in BFLOAT16_CHECKS)


class TrainedLinear(nn.Linear):
    """A linear layer; with `uses_bfloat16`, its products in training are of bfloat16."""

    uses_bfloat16 = False

    def forward(self, rows: Tensor) -> Tensor:
        """[rows, inputs] to [rows, outputs]."""
        if self.uses_bfloat16 and self.training:
            product: Tensor = BFloat16Linear.apply(rows, self.weight, self.bias)  # type: ignore[no-untyped-call]
            return product
        return super().forward(rows)


class BFloat16Linear(torch.autograd.Function):
    """rows · weightᵀ + bias, all three products of it and of its gradients in bfloat16."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Keep the rounded operands for the gradients, half of the memory of the others."""
        rounded, matrix = rows.bfloat16(), weight.bfloat16()
        ctx.save_for_backward(rounded, matrix)
        return (rounded @ matrix.t()).float().add_(bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        """The gradients of the rows, if they need one, the weight and the bias."""
        rows, matrix = ctx.saved_tensors
        rounded = gradient.bfloat16()
        of_rows = (rounded @ matrix).float() if ctx.needs_input_grad[0] else None
        return of_rows, (rounded.t() @ rows).float(), gradient.sum(0)


def new_linear(weight: Float32Array, bias: Float32Array) -> TrainedLinear:
    """A linear layer with these weights, copied."""
    layer = TrainedLinear(weight.shape[1], weight.shape[0], device="meta")
    layer.weight = nn.Parameter(torch.from_numpy(np.array(weight, np.float32)))
    layer.bias = nn.Parameter(torch.from_numpy(np.array(bias, np.float32)))
    return layer


def multiply_in_bfloat16(network: nn.Module) -> None:
    """From now on, train all linear layers of a network in bfloat16."""
    for layer in network.modules():
        if isinstance(layer, TrainedLinear):
            layer.uses_bfloat16 = True
