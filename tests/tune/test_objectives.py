"""Each objective and its gradient is that of sentence-transformers on the same batch."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from sentence_transformers.sentence_transformer import losses
from torch import Tensor, nn

from malmoi.tune.sentence.objectives import (
    OBJECTIVES,
    ObjectiveOptions,
    SoftmaxClassification,
    make_objective,
)
from malmoi.tune.sentence.settings import OBJECTIVE_NAMES, ObjectiveName

DIM, CLASSES, EXAMPLES = 12, 3, 10
OPTIONS = ObjectiveOptions(dim=DIM, classes=CLASSES)
SCORES = torch.tensor([0.1, 0.9, 0.4, 0.4, 1.0, 0.0, 0.7, 0.2, 0.2, 0.5])
BINARY = torch.tensor([1.0, 0, 1, 1, 0, 0, 1, 0, 1, 0])


class GivenVectors(nn.Module):
    """A model of sentence-transformers whose texts are their own vectors."""

    device = torch.device("cpu")

    def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"sentence_embedding": features["vectors"]}

    def get_embedding_dimension(self) -> int:
        return DIM


Peer = Callable[[Any], nn.Module]
CASES: dict[str, tuple[ObjectiveName, int, Tensor, Peer]] = {
    "cosine": ("cosine", 2, SCORES, losses.CosineSimilarityLoss),
    "triplet": ("triplet", 3, SCORES, losses.TripletLoss),
    "multiple_negatives": ("multiple_negatives", 2, SCORES, losses.MultipleNegativesRankingLoss),
    "hard_negatives": ("multiple_negatives", 4, SCORES, losses.MultipleNegativesRankingLoss),
    "cosent": ("cosent", 2, SCORES, losses.CoSENTLoss),
    "contrastive": ("contrastive", 2, BINARY, losses.ContrastiveLoss),
    "online_contrastive": ("online_contrastive", 2, BINARY, losses.OnlineContrastiveLoss),
    "only_similar": ("online_contrastive", 2, torch.ones(EXAMPLES), losses.OnlineContrastiveLoss),
    "margin_mse": ("margin_mse", 3, SCORES, losses.MarginMSELoss),
    "mse": ("mse", 2, torch.linspace(-1, 1, EXAMPLES * DIM).view(-1, DIM), losses.MSELoss),
}
each_case = pytest.mark.parametrize("case", CASES)


def random_columns(count: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(3)
    shared = torch.randn(EXAMPLES, DIM, generator=generator)  # so that cosines are of all sizes
    noise = (torch.randn(EXAMPLES, DIM, generator=generator) for _ in range(count))
    return [(0.7 * shared + each).requires_grad_() for each in noise]


def their_loss(peer: nn.Module, columns: list[Tensor], labels: Tensor) -> Tensor:
    loss: Tensor = peer([{"vectors": column} for column in columns], labels)
    return loss


def assert_same(ours: Tensor, theirs: Tensor, columns: list[Tensor]) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-6)
    gradients = [torch.autograd.grad(loss, columns) for loss in (ours, theirs)]
    for mine, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, expected, atol=1e-6, rtol=1e-5)


@each_case
def test_loss_and_gradient_are_those_of_sentence_transformers(case: str) -> None:
    name, count, labels, peer = CASES[case]
    columns = random_columns(count)
    ours = make_objective(name, OPTIONS)(columns, labels)
    assert ours.item() > 0
    assert_same(ours, their_loss(peer(GivenVectors()), columns, labels), columns)


@each_case
def test_matryoshka_around_each_is_that_of_sentence_transformers(case: str) -> None:
    name, count, labels, peer = CASES[case]
    if name == "mse":  # a teacher's vectors would have to be truncated too
        return
    columns, dims = random_columns(count), [4, 8, DIM]
    model = GivenVectors()
    theirs: Any = losses.MatryoshkaLoss(model, peer(model), dims)
    ours = make_objective(name, OPTIONS, dims)(columns, labels)
    assert_same(ours, their_loss(theirs, columns, labels), columns)


def test_classification_is_that_of_sentence_transformers() -> None:
    columns, labels = random_columns(2), torch.arange(EXAMPLES) % CLASSES
    ours: Any = make_objective("softmax", OPTIONS)
    theirs: Any = losses.SoftmaxLoss(GivenVectors(), embedding_dimension=DIM, num_labels=CLASSES)
    theirs.classifier.load_state_dict(ours.classifier.state_dict())
    assert_same(ours(columns, labels.float()), their_loss(theirs, columns, labels), columns)


def test_classification_by_matryoshka_trains_one_classifier_per_dimension() -> None:
    objective: Any = make_objective("softmax", OPTIONS, [4, DIM])
    shapes = {tuple(weight.shape) for weight in objective.parameters()}
    assert shapes == {(CLASSES, 3 * DIM), (CLASSES, 3 * 4), (CLASSES,)}
    labels = (torch.arange(EXAMPLES) % CLASSES).float()
    objective(random_columns(2), labels).backward()
    assert all(weight.grad is not None for weight in objective.parameters())
    assert isinstance(objective.inner[4], SoftmaxClassification)


@pytest.mark.parametrize(("name", "margin"), [("triplet", 1.0), ("contrastive", 0.9)])
def test_margin_is_used(name: ObjectiveName, margin: float) -> None:
    columns = random_columns(3 if name == "triplet" else 2)
    options = ObjectiveOptions(dim=DIM, margin=margin)
    model: Any = GivenVectors()
    peer: nn.Module = (
        losses.TripletLoss(model, triplet_margin=margin)
        if name == "triplet"
        else losses.ContrastiveLoss(model, margin=margin)
    )
    ours = make_objective(name, options)(columns, BINARY)
    assert_same(ours, their_loss(peer, columns, BINARY), columns)


def test_equal_texts_of_a_triplet_have_a_finite_gradient() -> None:
    same = torch.ones(2, DIM, requires_grad=True)
    loss = make_objective("triplet", OPTIONS)([same, same, same], SCORES[:2])
    (gradient,) = torch.autograd.grad(loss, [same])
    assert torch.isfinite(gradient).all()


def test_every_name_has_an_objective() -> None:
    assert set(OBJECTIVES) == set(OBJECTIVE_NAMES)
