"""StackedClassifier: several classifiers of the same labels, and the weight of each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.classify.base.trained_classifier import TrainedClassifier
from malmoi.classify.combined.stacking import Stack
from malmoi.errors import InvalidArgumentError


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StackedClassifier(TrainedClassifier):
    """Several classifiers as one, as `train_classifier` makes it of a `CombinedClassifier`."""

    parts: tuple[TrainedClassifier, ...]
    stack: Stack

    def __post_init__(self) -> None:
        super().__post_init__()
        self.stack.check(len(self.parts), self.num_outputs)
        for part in self.parts:
            if (part.labels, part.multi_label) != (self.labels, self.multi_label):
                raise InvalidArgumentError("the parts have other labels")

    def describe(self) -> dict[str, str]:
        """Facts about the classifier for people.

        Returns:
            Names and values.
        """
        facts = {
            "kind": f"{len(self.parts)} classifiers combined",
            "labels": f"{len(self.labels):,}: {', '.join(self.labels)}",
        }
        for number, (part, weight) in enumerate(
            zip(self.parts, self.stack.weights, strict=True), 1
        ):
            own = part.describe()
            details = own.get("encoder") or own.get("n-grams") or ""
            kind = f"{own['kind']}: {details}" if details else own["kind"]
            facts[f"part {number}"] = f"{kind}, weight {weight:.3f}"
        return facts | {"temperature": f"{self.temperature:.3f}", **self.metadata}

    def raw_scores(self, texts: Sequence[str]) -> Float64Array:
        """Scores [texts, outputs] before they are divided by the temperature."""
        scores = [part.raw_scores(texts) / part.temperature for part in self.parts]
        return self.stack.scores(np.stack(scores))
