"""Classifier: what every kind of classifier does with texts.

Kinds differ in how they score and explain a text; labels and probabilities are the same for all.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.classify.base.calibration import to_probabilities
from malmoi.classify.base.explanation import ClassExplanation
from malmoi.table import Table, Tabular
from malmoi.text_inputs import TextLike, strings

THRESHOLD = 0.5  # probability above which a text has a label, where it may have several


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Classifier(Tabular, ABC):
    """Labels texts. `multi_label`: a text may have several labels, or none."""

    labels: tuple[str, ...]
    multi_label: bool = False

    @abstractmethod
    def _scores(self, texts: Sequence[str]) -> Float64Array:
        """Calibrated scores [texts, outputs]; two classes with one label each have one output."""

    @property
    @abstractmethod
    def uses_softmax(self) -> bool:
        """Whether the scores of labels compete, or each one is a probability by itself."""

    @abstractmethod
    def describe(self) -> dict[str, str]:
        """Facts about the classifier for people.

        Returns:
            Names and values.
        """

    @abstractmethod
    def explain(self, text: str) -> ClassExplanation:
        """What in a text speaks for which label.

        Args:
            text: One text.

        Returns:
            The label, its probability, and the contribution of each part.
        """

    def probabilities(self, texts: Iterable[TextLike]) -> Float64Array:
        """The probability of each label for each text.

        Args:
            texts: The texts.

        Returns:
            Numbers from 0 to 1, float64 [texts, labels]; rows sum to 1 unless `multi_label`.
        """
        given = list(strings(texts))
        if not given:
            return np.zeros((0, len(self.labels)))
        scores = self._scores(given)
        if scores.shape[1] == 1 and len(self.labels) == 2 and not self.multi_label:
            second = to_probabilities(scores, softmax=False)
            return np.hstack([1 - second, second])
        shares = to_probabilities(scores, softmax=self.uses_softmax)
        if self.multi_label or self.uses_softmax:
            return shares
        sums = shares.sum(axis=1, keepdims=True)  # one versus rest, of which one is right
        return shares / np.where(sums > 0, sums, 1)

    def predict(self, texts: Iterable[TextLike]) -> list[str] | list[tuple[str, ...]]:
        """The label of each text.

        Args:
            texts: The texts.

        Returns:
            The most probable label of each text; with `multi_label` a tuple of all that are more
            probable than not.
        """
        return self.labels_of(self.probabilities(texts))

    def labels_of(self, probabilities: Float64Array) -> list[str] | list[tuple[str, ...]]:
        """The labels of texts, from their probabilities.

        Args:
            probabilities: As `probabilities` returns them.

        Returns:
            As `predict` returns them.
        """
        if not self.multi_label:
            return [self.labels[i] for i in probabilities.argmax(axis=1)]
        return [
            tuple(self.labels[i] for i in np.flatnonzero(row > THRESHOLD)) for row in probabilities
        ]

    def __repr__(self) -> str:
        shown = ", ".join(self.labels[:5]) + (", …" if len(self.labels) > 5 else "")
        return f"{type(self).__name__}({len(self.labels)} labels: {shown})"

    def _table(self) -> Table:
        return Table(repr(self), ["", ""], list(self.describe().items()))
