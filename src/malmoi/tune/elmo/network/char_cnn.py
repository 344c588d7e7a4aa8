"""The character CNN: from the characters of a word to its vector, for training.

    convolutions of several widths → maximum over the word → relu → highway layer → projection

Of each filter only the window with the maximum has a gradient. So the windows are searched without
one, and the value of each best window is computed again as a sum of looked-up numbers: the product
of each character's vector with the filter at that position. That takes a third of the time.
"""

from collections.abc import Sequence
from math import sqrt

import torch
from torch import Tensor, nn
from torch.nn import functional

from malmoi.tune.elmo.settings import CHARACTER_DIM, Filters
from malmoi.tune.network.linear import TrainedLinear

CARRY_BIAS = -2.0  # at first the highway layer passes most of its input on


class CharacterCnn(nn.Module):
    """Weights in the shapes of the HDF5 file; the characters of a word to [words, dim]."""

    def __init__(self, num_ids: int, filters: Filters, dim: int) -> None:
        super().__init__()
        features = sum(number for _, number in filters)
        self.embedding = nn.Parameter(torch.empty(num_ids, CHARACTER_DIM).uniform_(-1, 1))
        self.kernels = nn.ParameterList(
            nn.Parameter(_uniform(width, CHARACTER_DIM, number, inputs=width * CHARACTER_DIM))
            for width, number in filters
        )
        self.biases = nn.ParameterList(nn.Parameter(torch.zeros(number)) for _, number in filters)
        self.transform = TrainedLinear(features, features)
        self.carry = TrainedLinear(features, features)
        self.projection = TrainedLinear(features, dim)
        nn.init.constant_(self.carry.bias, CARRY_BIAS)

    def forward(self, groups: Sequence[Tensor]) -> Tensor:
        """Characters [words, characters] of each group to vectors [words of all groups, dim]."""
        features = torch.cat([self.features(ids) for ids in groups])
        gate = torch.sigmoid(self.carry(features))
        features = gate * torch.relu(self.transform(features)) + (1 - gate) * features
        projected: Tensor = self.projection(features)
        return projected

    def features(self, ids: Tensor) -> Tensor:
        """The maximum of each filter over the windows of each word, [words, features]."""
        best = self._best_windows(ids)
        parts = []
        for kernel, bias, start in zip(self.kernels, self.biases, best, strict=True):
            products = self.embedding @ kernel  # [width, ids, filters]
            value = bias
            for offset, of_character in enumerate(products):
                value = value + of_character.gather(0, ids.gather(1, start + offset))
            parts.append(torch.relu(value))
        return torch.cat(parts, 1)

    @torch.no_grad()
    def _best_windows(self, ids: Tensor) -> list[Tensor]:
        """The start of the window with the maximum of each filter: [words, filters] per width."""
        vectors = functional.embedding(ids, self.embedding).transpose(1, 2).contiguous()
        return [
            functional.conv1d(vectors, kernel.permute(2, 1, 0)).argmax(2) for kernel in self.kernels
        ]


def _uniform(*shape: int, inputs: int) -> Tensor:
    """Random weights whose products have about the variance of their inputs."""
    return torch.empty(shape).uniform_(-1, 1) * sqrt(3 / inputs)
