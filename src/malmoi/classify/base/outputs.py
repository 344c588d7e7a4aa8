"""Outputs of a classifier: what the scores of labelled texts should be, and their calibration."""

from dataclasses import replace
from typing import NamedTuple, Self, TypeVar

import numpy as np

from malmoi.arrays import BoolArray, Int64Array
from malmoi.classify.base.calibration import find_temperature
from malmoi.classify.base.settings import ClassifierSettings
from malmoi.classify.base.trained_classifier import CommonFields, TrainedClassifier
from malmoi.kernels.classify.sets import Sets
from malmoi.tune.data.labelled_set import LabelledSet
from malmoi.tune.data.splits import stratified_sample

CALIBRATION_SHARE, MAX_CALIBRATION = 0.05, 5000  # of the training texts
Trained = TypeVar("Trained", bound=TrainedClassifier)


class Outputs(NamedTuple):
    """The labels of texts as outputs; two classes have one, that of the second class."""

    num_outputs: int
    softmax: bool
    labels: Sets

    @classmethod
    def of(cls, data: LabelledSet, *, one_versus_rest: bool = False) -> Self:
        """The outputs of labelled texts."""
        if len(data.names) == 2 and not data.multi_label:
            return cls(1, False, _second_class(data.labels))
        return cls(len(data.names), not (data.multi_label or one_versus_rest), data.labels)

    def targets(self, rows: Int64Array | None = None) -> BoolArray:
        """Which outputs should be 1, [texts, outputs], of all or of some texts."""
        labels = self.labels if rows is None else self.labels.take(rows)
        targets = np.zeros((len(labels.sizes), self.num_outputs), np.bool_)
        targets[np.repeat(np.arange(len(targets)), labels.sizes), labels.items] = True
        return targets


def _second_class(labels: Sets) -> Sets:
    """Labels 0 and 1 as the only output's: class 1 has the label 0, class 0 has none."""
    sizes = labels.items.astype(np.int64)
    return Sets(np.concatenate([[0], np.cumsum(sizes)]), np.zeros(int(sizes.sum()), np.int32))


def common_fields(data: LabelledSet, *, softmax: bool) -> CommonFields:
    """The fields of a classifier of these texts that all kinds have."""
    facts = {"trained on": f"{data.name}, {len(data):,} texts"}
    return CommonFields(data.names, data.multi_label, softmax, 1.0, facts)


def calibration_rows(data: LabelledSet, settings: ClassifierSettings) -> Int64Array:
    """The texts that calibrate, which are not trained on; none if that is not wanted."""
    if not settings.calibrate:
        return np.zeros(0, np.int64)
    share = min(CALIBRATION_SHARE, MAX_CALIBRATION / len(data))
    return stratified_sample(data.first_labels, share, settings.seed)


def calibrated(
    classifier: Trained, data: LabelledSet, outputs: Outputs, rows: Int64Array
) -> Trained:
    """The classifier with the temperature that suits these texts; as it is without texts."""
    if not len(rows):
        return classifier
    scores = classifier.raw_scores([data.texts[i] for i in rows])
    temperature = find_temperature(scores, outputs.targets(rows), softmax=outputs.softmax)
    return replace(classifier, temperature=temperature)
