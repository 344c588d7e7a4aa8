"""One run of a comparison: a classifier is trained on a part of the texts and tested on another.

A run is what remains of a classifier: its predictions, its scores and its costs.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from malmoi.arrays import BoolArray, Int64Array
from malmoi.classify.base.settings import ClassifierSettings
from malmoi.classify.base.trained_classifier import TrainedClassifier
from malmoi.classify.compare.costs import file_size, texts_per_second
from malmoi.classify.compare.result import ExplainedMistake
from malmoi.classify.fitting import fit_classifier
from malmoi.classify.result import (
    LabelScore,
    Mistake,
    Predictions,
    predict_set,
    score_predictions,
)
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.data.labelled_set import LabelledSet

EXPLAINED_PARTS, MISTAKE_CHARACTERS = 5, 400
ARRAYS = ("rows", "right", "predicted", "confusion")
SILENT = SilentReporter()


class Part(NamedTuple):
    """The rows of a run: texts to train on and texts to test on."""

    train: Int64Array
    test: Int64Array


@dataclass(frozen=True, eq=False, kw_only=True)
class Run:
    """The result of one run.

    `rows` are the tested texts, `right` whether all labels of each are right, and `predicted` the
    number of its most probable label.
    """

    rows: Int64Array
    right: BoolArray
    predicted: Int64Array
    confusion: Int64Array  # [labels, labels], or [0, 0] with several labels per text
    train_texts: int
    macro_f1: float
    calibration_error: float
    cpu_seconds: float
    texts_per_second: float
    size: int
    kind: str
    labels: tuple[LabelScore, ...]
    mistakes: tuple[ExplainedMistake, ...]

    @property
    def accuracy(self) -> float:
        """The share of test texts that are right."""
        return float(self.right.mean())

    def save(self, path: Path) -> None:
        """Write the run as .npz."""
        record = {key: value for key, value in asdict(self).items() if key not in ARRAYS}
        with path.open("wb") as file:
            np.savez_compressed(
                file,
                **{name: getattr(self, name) for name in ARRAYS},
                record=np.frombuffer(json.dumps(record).encode(), np.uint8),
            )

    @classmethod
    def load(cls, path: Path) -> "Run":
        """Read a run; raises what NumPy and JSON raise where the file is damaged."""
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            record: dict[str, Any] = json.loads(arrays["record"].tobytes())
            own = {name: arrays[name] for name in ARRAYS}
        record["labels"] = tuple(LabelScore(**each) for each in record["labels"])
        record["mistakes"] = tuple(
            ExplainedMistake(**each | {"parts": tuple(map(tuple, each["parts"]))})
            for each in record["mistakes"]
        )
        return cls(**record, **own)


def run_classifier(
    data: LabelledSet,
    part: Part,
    settings: ClassifierSettings,
    *,
    seconds_per_vector: float,
    explain: bool,
) -> Run:
    """Train and test a classifier; `explain` also says why it makes its worst mistakes.

    Cached vectors cost as if they were computed: `seconds_per_vector` for each training text.
    """
    train, test = data.take(part.train), data.take(part.test)
    start = time.process_time()
    classifier = fit_classifier(train, settings, SILENT)
    took = time.process_time() - start + seconds_per_vector * len(train)
    predictions = predict_set(classifier, test)
    scores = score_predictions(classifier, predictions, test, train)
    return Run(
        rows=part.test,
        right=predictions.right,
        predicted=predictions.probabilities.argmax(axis=1),
        confusion=confusion(predictions) if not data.multi_label else np.zeros((0, 0), np.int64),
        train_texts=len(train),
        macro_f1=scores.macro_f1,
        calibration_error=scores.calibration_error,
        cpu_seconds=took,
        texts_per_second=texts_per_second(classifier, test.texts),
        size=file_size(classifier),
        kind=classifier.describe()["kind"],
        labels=scores.labels,
        mistakes=explained(classifier, scores.mistakes) if explain else (),
    )


def confusion(predictions: Predictions) -> Int64Array:
    """How many texts with label i are classified as j, [labels, labels]."""
    counts: Int64Array = predictions.targets.T.astype(np.int64) @ predictions.predicted.astype(
        np.int64
    )
    return counts


def explained(
    classifier: TrainedClassifier, mistakes: Sequence[Mistake]
) -> tuple[ExplainedMistake, ...]:
    """The mistakes with the words that spoke for the wrong label."""
    return tuple(
        ExplainedMistake(
            text=one.text[:MISTAKE_CHARACTERS],
            label=one.label,
            predicted=one.predicted,
            probability=one.probability,
            parts=tuple(
                (part.part, part.label, part.value)
                for part in classifier.explain(one.text[:MISTAKE_CHARACTERS]).by_word()
                if part.label == one.predicted and part.value > 0
            )[:EXPLAINED_PARTS],
        )
        for one in mistakes
    )
