"""ClassifierResult: a trained classifier and how good it is on texts that it has not seen."""

from dataclasses import dataclass

import numpy as np

from malmoi.arrays import BoolArray, Float64Array
from malmoi.classify.base.calibration import calibration_error
from malmoi.classify.base.classifier import THRESHOLD, Classifier
from malmoi.evaluate.scores import Score, accuracy
from malmoi.table import Table, Tabular
from malmoi.tune.data.labelled_set import LabelledSet

MAX_MISTAKES = 5


@dataclass(frozen=True, kw_only=True)
class LabelScore:
    """How well one label is found: precision, recall and F1, of so many test texts with it."""

    label: str
    precision: float
    recall: float
    f1: float
    texts: int


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A test text with another label than the classifier is sure of."""

    text: str
    label: str
    predicted: str
    probability: float


@dataclass(frozen=True, kw_only=True, repr=False)
class ClassifierScores(Tabular):
    """Scores on test texts; `accuracy` counts a text with several labels if all are right.

    `baseline` is the accuracy of the most frequent label of the training texts. `calibration_error`
    is the expected difference between the probability of the predicted label and its accuracy.
    """

    accuracy: Score
    macro_f1: float
    baseline: float
    baseline_label: str
    calibration_error: float
    labels: tuple[LabelScore, ...]
    mistakes: tuple[Mistake, ...]

    def __repr__(self) -> str:
        return self._table().text()

    def _table(self) -> Table:
        rows = [(one.label, one.precision, one.recall, one.f1, one.texts) for one in self.labels]
        return Table("Labels", ["label", "precision", "recall", "F1", "texts"], rows)


@dataclass(frozen=True, kw_only=True, repr=False)
class ClassifierResult(Tabular):
    """A trained classifier; `scores` is None if no text was held out to test it.

    `repeats` are test texts that were left out because they are also trained on.
    """

    classifier: Classifier
    name: str
    train_texts: int
    test_texts: int
    repeats: int
    seconds: float
    cpu_seconds: float
    scores: ClassifierScores | None

    def __repr__(self) -> str:
        return self._table().text()

    def _table(self) -> Table:
        title = f"{self.name}: {self.train_texts:,} texts, {len(self.classifier.labels):,} labels"
        rows = [("training", f"{self.cpu_seconds:.1f} s of CPU time")]
        if self.scores is not None:
            one = self.scores.accuracy
            value, low, high = (100 * (each or 0.0) for each in (one.value, one.low, one.high))
            rows += [
                ("accuracy", f"{value:.2f} % [{low:.2f}, {high:.2f}], {self.test_texts:,} texts"),
                ("macro-F1", f"{100 * self.scores.macro_f1:.2f} %"),
                (
                    "always the same label",
                    f"{100 * self.scores.baseline:.2f} % ({self.scores.baseline_label})",
                ),
                ("calibration error", f"{100 * self.scores.calibration_error:.2f} %"),
            ]
        return Table(title, ["", ""], rows)


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a classifier makes of test texts: probabilities and labels, all [texts, labels]."""

    probabilities: Float64Array
    targets: BoolArray
    predicted: BoolArray

    @property
    def right(self) -> BoolArray:
        """Whether all labels of a text are right, [texts]."""
        right: BoolArray = (self.predicted == self.targets).all(axis=1)
        return right


def measure(classifier: Classifier, test: LabelledSet, train: LabelledSet) -> ClassifierScores:
    """Test a classifier; the labels of the test texts are its own."""
    return score_predictions(classifier, predict_set(classifier, test), test, train)


def predict_set(classifier: Classifier, test: LabelledSet) -> Predictions:
    """Classify test texts."""
    probabilities, count = classifier.probabilities(test.texts), len(classifier.labels)
    targets = np.zeros((len(test), count), np.bool_)
    targets[np.repeat(np.arange(len(test)), test.labels.sizes), test.labels.items] = True
    if classifier.multi_label:
        return Predictions(probabilities, targets, probabilities > THRESHOLD)
    best = probabilities.argmax(axis=1)
    return Predictions(probabilities, targets, best[:, np.newaxis] == np.arange(count))


def score_predictions(
    classifier: Classifier, predictions: Predictions, test: LabelledSet, train: LabelledSet
) -> ClassifierScores:
    """The scores of what a classifier predicted."""
    shares, right = predictions.probabilities, predictions.right
    if classifier.multi_label:
        sure, hits = (
            np.maximum(shares, 1 - shares).ravel(),
            predictions.predicted == predictions.targets,
        )
    else:
        sure, hits = shares.max(axis=1), right
    most = int(np.bincount(train.labels.items, minlength=len(classifier.labels)).argmax())
    only = np.arange(len(classifier.labels)) == most
    labels = tuple(_label_scores(classifier, predictions.predicted, predictions.targets))
    return ClassifierScores(
        accuracy=accuracy(int(right.sum()), len(test), len(test)),
        macro_f1=float(np.mean([one.f1 for one in labels])),
        baseline=float((predictions.targets == only).all(axis=1).mean()),
        baseline_label=classifier.labels[most],
        calibration_error=calibration_error(sure, hits.ravel()),
        labels=labels,
        mistakes=tuple(_mistakes(classifier, test, shares, right)),
    )


def _label_scores(
    classifier: Classifier, predicted: BoolArray, targets: BoolArray
) -> list[LabelScore]:
    hits = (predicted & targets).sum(axis=0)
    chosen, given = predicted.sum(axis=0), targets.sum(axis=0)
    return [
        LabelScore(
            label=label,
            precision=float(hits[i] / max(chosen[i], 1)),
            recall=float(hits[i] / max(given[i], 1)),
            f1=float(2 * hits[i] / max(chosen[i] + given[i], 1)),
            texts=int(given[i]),
        )
        for i, label in enumerate(classifier.labels)
    ]


def _mistakes(
    classifier: Classifier, test: LabelledSet, probabilities: Float64Array, right: BoolArray
) -> list[Mistake]:
    """The mistakes that the classifier is most sure of."""
    wrong = np.flatnonzero(~right)
    surest = wrong[np.argsort(-probabilities[wrong].max(axis=1), kind="stable")[:MAX_MISTAKES]]
    offsets, items = test.labels
    return [
        Mistake(
            text=test.texts[i],
            label=", ".join(classifier.labels[k] for k in items[offsets[i] : offsets[i + 1]]),
            predicted=classifier.labels[int(probabilities[i].argmax())],
            probability=float(probabilities[i].max()),
        )
        for i in surest
    ]
