"""Losses of a student's vectors beside those of its teacher. Knows nothing of texts."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from malmoi.tune.distill.settings import LossName

DistillLoss = Callable[[Tensor, Tensor], Tensor]


def cosine_distance(vectors: Tensor, targets: Tensor) -> Tensor:
    """The mean of 1 − cos(vector, target)."""
    return (1 - functional.cosine_similarity(vectors, targets)).mean()


def similarity_error(vectors: Tensor, targets: Tensor) -> Tensor:
    """The mean squared difference between the cosines of all pairs of a batch.

    It keeps texts apart that the teacher keeps apart, which a distance to the targets alone
    hardly rewards.
    """
    own, theirs = (functional.normalize(rows, dim=1) for rows in (vectors, targets))
    return functional.mse_loss(own @ own.T, theirs @ theirs.T)


DISTANCES: dict[LossName, DistillLoss] = {
    "mse": functional.mse_loss,  # as in Reimers and Gurevych (2020)
    "cosine": cosine_distance,
}


def make_loss(name: LossName, similarity_weight: float) -> DistillLoss:
    """The distance to the targets, plus the weighted error of the similarity matrix."""
    distance = DISTANCES[name]
    if not similarity_weight:
        return distance

    def loss(vectors: Tensor, targets: Tensor) -> Tensor:
        error = similarity_error(vectors, targets)
        return torch.add(distance(vectors, targets), error, alpha=similarity_weight)

    return loss
