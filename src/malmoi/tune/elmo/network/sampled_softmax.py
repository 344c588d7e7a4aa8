"""Sampled softmax: the loss of words among some candidates instead of the whole vocabulary.

The candidates of a batch are its own words and words sampled by their frequency, each once. A word
w is a candidate with the probability q(w), so its logit minus log q(w) makes the loss consistent:
the best logits are those of the full softmax (Jean et al. 2015).
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from malmoi.arrays import Float32Array, Float64Array, Int64Array

SAMPLING_EXPONENT = 0.75  # of the counts
CHUNK_ROWS = 512  # whose logits are in memory at a time
SMALLEST = 1e-38  # probability, so that its logarithm is finite


class Candidates(NamedTuple):
    """Rows of the vocabulary, in ascending order, and what to add to their logits."""

    rows: Int64Array
    corrections: Float32Array


class CandidateSampler:
    """Samples words in proportion to count ** 0.75."""

    def __init__(self, counts: Int64Array, samples: int) -> None:
        weights = (counts + 1.0) ** SAMPLING_EXPONENT
        self.samples = samples
        self.probabilities = weights / weights.sum()
        self.shares: Float64Array = (counts + 1.0) / (counts + 1.0).sum()
        self.cumulative = np.cumsum(self.probabilities)

    def sample(self, targets: Int64Array, random: np.random.Generator) -> Candidates:
        """The targets and sampled words, each with −log of the probability to be among them."""
        drawn = np.searchsorted(self.cumulative, random.random(self.samples), side="right")
        drawn = np.minimum(drawn, len(self.cumulative) - 1)  # the last sum may be just below 1
        rows = np.unique(np.concatenate([targets.ravel(), drawn]))
        absent = np.log1p(-self.shares[rows]) * targets.size
        absent += np.log1p(-self.probabilities[rows]) * self.samples
        return Candidates(rows, -np.log(-np.expm1(absent)).astype(np.float32))


class SoftmaxLoss(torch.autograd.Function):
    """The mean cross-entropy of targets; its gradients are computed in the same pass.

    Logits are never in memory as a whole, and with `in_bfloat16` all products are of bfloat16.
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, in_bfloat16: bool
    ) -> Tensor:
        """The loss of hidden [rows, dim] with weight [words, dim], bias [words], targets [rows]."""
        dtype = torch.bfloat16 if in_bfloat16 else torch.float32
        rounded, matrix = hidden.to(dtype), weight.to(dtype)
        of_hidden = torch.empty_like(hidden)
        of_weight, of_bias = torch.zeros_like(weight), torch.zeros_like(bias)
        total = hidden.new_zeros((), dtype=torch.float64)
        for first in range(0, len(hidden), CHUNK_ROWS):
            part = slice(first, first + CHUNK_ROWS)
            chosen = targets[part, None]
            shares = torch.softmax((rounded[part] @ matrix.T).float().add_(bias), 1)
            own = shares.gather(1, chosen)
            total -= own.clamp_(min=SMALLEST).log_().sum(dtype=torch.float64)
            shares.scatter_add_(1, chosen, torch.full_like(own, -1))
            difference = shares.to(dtype)
            of_hidden[part] = difference @ matrix
            of_weight += difference.T @ rounded[part]
            of_bias += shares.sum(0)
        ctx.save_for_backward(of_hidden, of_weight, of_bias)
        ctx.size = len(hidden)
        return (total / len(hidden)).float()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        """The gradients that `forward` computed, scaled."""
        scale = gradient / ctx.size
        of_hidden, of_weight, of_bias = (part * scale for part in ctx.saved_tensors)
        return of_hidden, of_weight, of_bias, None, None


def softmax_loss(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, *, in_bfloat16: bool = False
) -> Tensor:
    """The mean cross-entropy of targets [rows] among the rows of `weight`."""
    loss: Tensor = SoftmaxLoss.apply(hidden, weight, bias, targets, in_bfloat16)  # type: ignore[no-untyped-call]
    return loss
