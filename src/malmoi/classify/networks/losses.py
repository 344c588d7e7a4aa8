"""The loss of labels: that of a batch, and that of held-out texts, which chooses the best state."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from malmoi.arrays import BoolArray, Float64Array
from malmoi.classify.base.calibration import cross_entropy
from malmoi.train.common.loop import DevScore

MAX_WEIGHT = 20.0  # of a class with few texts


class ClassLoss(nn.Module):
    """Cross-entropy; labels compete (`softmax`), or each one is right or wrong by itself.

    `balanced` are the targets of the training texts where classes with few of them weigh more.
    """

    def __init__(self, *, softmax: bool, balanced: BoolArray | None = None) -> None:
        super().__init__()
        self.softmax = softmax
        self.class_weights = None if balanced is None else class_weights(balanced, softmax=softmax)

    def forward(self, scores: Tensor, targets: Tensor) -> Tensor:
        """The mean loss of scores and targets, both [texts, outputs]."""
        if self.softmax:
            return functional.cross_entropy(scores, targets.argmax(1), self.class_weights)
        return functional.binary_cross_entropy_with_logits(
            scores, targets, pos_weight=self.class_weights
        )


def class_weights(targets: BoolArray, *, softmax: bool) -> Tensor:
    """Larger weights for outputs with few texts, [outputs]."""
    counts = np.maximum(targets.sum(0), 1)
    weights = len(targets) / counts / len(counts) if softmax else len(targets) / counts - 1
    return torch.from_numpy(np.clip(weights, 1 / MAX_WEIGHT, MAX_WEIGHT).astype(np.float32))


@dataclass(frozen=True, eq=False)
class DevLoss:
    """The mean cross-entropy of the labels of held-out texts: less is better."""

    scores: Callable[[], Float64Array]  # of the network as it is now, [texts, outputs]
    targets: BoolArray  # [texts, outputs]
    softmax: bool

    def measure(self) -> DevScore:
        """Minus the mean cross-entropy."""
        total = cross_entropy(self.scores(), self.targets, softmax=self.softmax)
        return DevScore(-total / len(self.targets), np.zeros(0))

    def show(self, value: float) -> str:
        """The loss as the progress names it."""
        return f"loss {-value:.4f}"
