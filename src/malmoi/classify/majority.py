"""The majority baseline: every text gets the shares of the labels of the training texts.

The settings, the classifier and its tensors. Accuracies mean something beside this one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.classify.base.explanation import ClassExplanation
from malmoi.classify.base.outputs import Outputs, common_fields
from malmoi.classify.base.settings import ClassifierSettings
from malmoi.classify.base.trained_classifier import CommonFields, TrainedClassifier
from malmoi.errors import InvalidArgumentError
from malmoi.files.tensors import Tensors, check_tensors
from malmoi.tune.data.labelled_set import LabelledSet

MIN_TEXTS = 0.5  # with and without a label, so that its odds are finite


@dataclass(frozen=True, kw_only=True)
class MajorityClassifier(ClassifierSettings):
    """The majority baseline: probabilities are the shares of labels, whatever the text.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ConstantClassifier(TrainedClassifier):
    """The same scores [outputs] for every text, as `train_classifier` makes it."""

    constants: Float64Array

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.constants.shape != (self.num_outputs,):
            raise InvalidArgumentError(
                f"{len(self.constants)} scores do not fit {len(self.labels)} labels"
            )
        if not np.isfinite(self.constants).all():
            raise InvalidArgumentError("its scores are not all numbers")

    def describe(self) -> dict[str, str]:
        """Facts about the classifier for people.

        Returns:
            Names and values.
        """
        (shares,) = self.probabilities([""])
        by_share = np.argsort(-shares, kind="stable")
        return {
            "kind": "majority: the shares of the labels, for any text",
            "labels": f"{len(self.labels):,}: "
            + ", ".join(f"{self.labels[i]} {100 * shares[i]:.1f} %" for i in by_share),
            **self.metadata,
        }

    def explain(self, text: str) -> ClassExplanation:
        """The same label for any text; no word of it speaks for a label.

        Args:
            text: One text.

        Returns:
            The label and its probability.
        """
        return replace(super().explain(text), contributions=())

    def raw_scores(self, texts: Sequence[str]) -> Float64Array:
        """The same scores for each text, [texts, outputs]."""
        return np.tile(self.constants, (len(texts), 1))


def fit_majority(data: LabelledSet) -> ConstantClassifier:
    """The log odds of outputs, or the log shares of labels that compete."""
    outputs, texts = Outputs.of(data), len(data)
    counts = np.bincount(outputs.labels.items, minlength=outputs.num_outputs).astype(np.float64)
    scores = np.log(np.maximum(counts, MIN_TEXTS) / texts)
    if not outputs.softmax:
        scores -= np.log(np.maximum(texts - counts, MIN_TEXTS) / texts)
    common = common_fields(data, softmax=outputs.softmax)
    return ConstantClassifier(constants=scores, **common._asdict())


def majority_tensors(classifier: ConstantClassifier) -> tuple[Tensors, dict[str, str]]:
    """The tensor of its own: `constants` f64 [outputs]."""
    return {"constants": classifier.constants}, {}


def read_majority(tensors: Tensors, common: CommonFields) -> ConstantClassifier:
    """A majority baseline from its tensor."""
    check_tensors(tensors, 1, constants="<f8")
    return ConstantClassifier(constants=tensors["constants"], **common._asdict())
