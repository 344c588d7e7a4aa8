"""TrainedClassifier: what the classifiers that are trained here have in common.

Kinds differ in their raw scores; temperature and outputs are the same for all. With two labels, of
which a text has one, there is one output: that of the second label.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.classify.base.classifier import Classifier
from malmoi.classify.base.explanation import ClassExplanation
from malmoi.classify.base.occlusion import explain_by_occlusion
from malmoi.errors import InvalidArgumentError


class CommonFields(NamedTuple):
    """The fields of every classifier, as its file holds them."""

    labels: tuple[str, ...]
    multi_label: bool
    softmax: bool
    temperature: float
    metadata: dict[str, str]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TrainedClassifier(Classifier):
    """Scores are divided by `temperature`; `softmax`: labels compete."""

    softmax: bool = True
    temperature: float = 1.0
    metadata: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.labels) < 2 and not self.multi_label:
            raise InvalidArgumentError(f"{len(self.labels)} labels: a classifier needs two")
        if not 0 < self.temperature < np.inf:
            raise InvalidArgumentError(f"temperature is {self.temperature}: it must be above 0")

    @abstractmethod
    def raw_scores(self, texts: Sequence[str]) -> Float64Array:
        """Scores [texts, outputs] before they are divided by the temperature."""

    @property
    def num_outputs(self) -> int:
        """One for two labels of which a text has one, otherwise one for each label."""
        return 1 if len(self.labels) == 2 and not self.multi_label else len(self.labels)

    @property
    def uses_softmax(self) -> bool:
        """Whether the scores of labels compete."""
        return self.softmax and not self.multi_label

    def explain(self, text: str) -> ClassExplanation:
        """Which words of a text speak for which label: how its probability falls without them.

        Args:
            text: One text.

        Returns:
            The label, its probability, and the contribution of each word.
        """
        return explain_by_occlusion(self, text)

    def _scores(self, texts: Sequence[str]) -> Float64Array:
        return self.raw_scores(texts) / self.temperature
