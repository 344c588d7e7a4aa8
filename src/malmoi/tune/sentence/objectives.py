"""Objectives: the losses of a batch, equal to those of sentence-transformers.

An objective takes one matrix of vectors [examples, dim] per column of texts, and the labels.
Knows nothing of texts or networks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from malmoi.tune.sentence.settings import ObjectiveName

VectorColumns = Sequence[Tensor]


class Objective(Protocol):
    """The loss of a batch."""

    def __call__(self, columns: VectorColumns, labels: Tensor) -> Tensor:
        """The loss of vectors [examples, dim] per column; labels are one row per example."""


@dataclass(frozen=True, kw_only=True)
class ObjectiveOptions:
    """What objectives depend on beside vectors; `margin` None is that of each objective."""

    dim: int
    classes: int = 0
    scale: float = 20.0
    margin: float | None = None


class SoftmaxClassification(nn.Module):
    """Cross-entropy of softmax(W(u, v, |u − v|)); W is trained along (Reimers & Gurevych 2019)."""

    def __init__(self, dim: int, classes: int) -> None:
        super().__init__()
        self.classifier = nn.Linear(3 * dim, classes)

    def forward(self, columns: VectorColumns, labels: Tensor) -> Tensor:
        """Labels are the numbers of classes."""
        u, v = columns
        scores = self.classifier(torch.cat([u, v, (u - v).abs()], dim=1))
        return functional.cross_entropy(scores, labels.long())


def cosine_regression(columns: VectorColumns, labels: Tensor) -> Tensor:
    """The mean of (cos(u, v) − label)²."""
    u, v = columns
    return functional.mse_loss(functional.cosine_similarity(u, v), labels)


@dataclass(frozen=True)
class Triplet:
    """The mean of max(‖a − p‖ − ‖a − n‖ + margin, 0)."""

    margin: float = 5.0

    def __call__(self, columns: VectorColumns, labels: Tensor) -> Tensor:
        """Columns are anchors, positives and negatives; labels are not used."""
        anchor, positive, negative = columns
        near = torch.linalg.vector_norm(anchor - positive, dim=1)
        far = torch.linalg.vector_norm(anchor - negative, dim=1)
        return functional.relu(near - far + self.margin).mean()


@dataclass(frozen=True)
class MultipleNegatives:
    """Cross-entropy of scale · cos(anchor, every other text of the batch): InfoNCE.

    The texts are the second column, whose own row is the right one, and all further columns,
    which are hard negatives (Henderson et al. 2017).
    """

    scale: float = 20.0

    def __call__(self, columns: VectorColumns, labels: Tensor) -> Tensor:
        """Columns are anchors, positives and any number of negatives; labels are not used."""
        anchors, *others = (functional.normalize(column, dim=1) for column in columns)
        scores = self.scale * anchors @ torch.cat(others).T
        return functional.cross_entropy(scores, torch.arange(len(anchors)))


@dataclass(frozen=True)
class CoSENT:
    """log(1 + Σ exp(scale · (cosᵢ − cosⱼ))) over all pairs whose label i is below label j."""

    scale: float = 20.0

    def __call__(self, columns: VectorColumns, labels: Tensor) -> Tensor:
        """Only the order of the labels counts."""
        u, v = columns
        cosines = self.scale * functional.cosine_similarity(u, v)
        differences = cosines[:, None] - cosines[None, :]
        wrong = differences[labels[:, None] < labels[None, :]]
        return torch.logsumexp(torch.cat([differences.new_zeros(1), wrong]), dim=0)


@dataclass(frozen=True)
class Contrastive:
    """Half the mean of d² for label 1, and of max(margin − d, 0)² for label 0; d = 1 − cos."""

    margin: float = 0.5

    def __call__(self, columns: VectorColumns, labels: Tensor) -> Tensor:
        """Labels are 1 for similar texts, 0 for others (Hadsell et al. 2006)."""
        distances = _cosine_distances(columns)
        near = labels * distances.square()
        far = (1 - labels) * functional.relu(self.margin - distances).square()
        return 0.5 * (near + far).mean()


@dataclass(frozen=True)
class OnlineContrastive:
    """The sum of the same terms over the hard pairs of the batch alone.

    Hard are similar pairs farther apart than the nearest dissimilar one, and dissimilar pairs
    nearer than the farthest similar one.
    """

    margin: float = 0.5

    def __call__(self, columns: VectorColumns, labels: Tensor) -> Tensor:
        """Labels are 1 for similar texts, 0 for others."""
        distances = _cosine_distances(columns)
        far, near = distances[labels == 0], distances[labels == 1]
        hard_far = far[far < (near.max() if len(near) else far.mean())]
        hard_near = near[near > (far.min() if len(far) else near.mean())]
        return hard_near.square().sum() + functional.relu(self.margin - hard_far).square().sum()


def margin_mse(columns: VectorColumns, labels: Tensor) -> Tensor:
    """The mean of (a·p − a·n − label)²; the label is the margin by a teacher."""
    anchor, positive, negative = columns
    margins = (anchor * positive).sum(dim=1) - (anchor * negative).sum(dim=1)
    return functional.mse_loss(margins, labels)


def teacher_mse(columns: VectorColumns, labels: Tensor) -> Tensor:
    """The mean squared difference to a teacher's vectors, which are the labels [examples, dim]."""
    return torch.stack([functional.mse_loss(column, labels) for column in columns]).mean()


class Matryoshka(nn.Module):
    """The sum of another objective over vectors truncated to several dimensions, normalized.

    `inner` has one objective per dimension: those with weights of their own need them by size.
    """

    def __init__(self, inner: dict[int, Objective]) -> None:
        super().__init__()
        self.inner = inner
        trained = [each for each in inner.values() if isinstance(each, nn.Module)]
        self.trained = nn.ModuleList(trained)

    def forward(self, columns: VectorColumns, labels: Tensor) -> Tensor:
        """The sum over all dimensions (Kusupati et al. 2022)."""
        losses = [
            loss([functional.normalize(column[:, :dim], dim=1) for column in columns], labels)
            for dim, loss in self.inner.items()
        ]
        return torch.stack(losses).sum()


def _cosine_distances(columns: VectorColumns) -> Tensor:
    u, v = columns
    return 1 - functional.cosine_similarity(u, v)


def _margin(options: ObjectiveOptions, default: float) -> float:
    return default if options.margin is None else options.margin


OBJECTIVES: dict[ObjectiveName, Callable[[ObjectiveOptions], Objective]] = {
    "softmax": lambda options: SoftmaxClassification(options.dim, options.classes),
    "cosine": lambda options: cosine_regression,
    "triplet": lambda options: Triplet(_margin(options, Triplet.margin)),
    "multiple_negatives": lambda options: MultipleNegatives(options.scale),
    "cosent": lambda options: CoSENT(options.scale),
    "contrastive": lambda options: Contrastive(_margin(options, Contrastive.margin)),
    "online_contrastive": lambda options: OnlineContrastive(
        _margin(options, OnlineContrastive.margin)
    ),
    "margin_mse": lambda options: margin_mse,
    "mse": lambda options: teacher_mse,
}


def make_objective(
    name: ObjectiveName, options: ObjectiveOptions, matryoshka_dims: Sequence[int] = ()
) -> Objective:
    """The objective of this name; with dimensions, Matryoshka around it, the largest first."""
    if not matryoshka_dims:
        return OBJECTIVES[name](options)
    dims = sorted(set(matryoshka_dims), reverse=True)
    sized = {
        dim: ObjectiveOptions(
            dim=dim, classes=options.classes, scale=options.scale, margin=options.margin
        )
        for dim in dims
    }
    return Matryoshka({dim: OBJECTIVES[name](each) for dim, each in sized.items()})
