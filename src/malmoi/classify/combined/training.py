"""Trains several classifiers, and weights them by their scores of texts that they have not seen.

Few texts are split into folds; of many, a tenth is held out. All parts are trained on all texts.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from malmoi.arrays import Float64Array, Int64Array
from malmoi.classify.base.outputs import Outputs, common_fields
from malmoi.classify.base.settings import ClassifierSettings
from malmoi.classify.base.trained_classifier import TrainedClassifier
from malmoi.classify.combined.settings import CombinedClassifier
from malmoi.classify.combined.stacked_classifier import StackedClassifier
from malmoi.classify.combined.stacking import fit_stack, temperatures
from malmoi.reporting.reporter import Reporter, SilentReporter
from malmoi.tune.data.labelled_set import LabelledSet
from malmoi.tune.data.splits import TextSplit, split_folds, split_texts

MAX_FOLDED = 20_000  # texts that are split into folds
HELD_OUT_SHARE = 0.1  # of more texts

FitPart = Callable[[LabelledSet, ClassifierSettings, Reporter], TrainedClassifier]


def fit_combined(
    data: LabelledSet, settings: CombinedClassifier, fit: FitPart, reporter: Reporter
) -> StackedClassifier:
    """Parts of all these texts, weighted by held-out scores; `fit` trains a part of any kind."""
    outputs = Outputs.of(data)
    # All texts first: the vectors of encoders are then in the cache.
    parts = [fit(data, part, reporter) for part in settings.fitted_parts]
    rows, scores = held_out_scores(data, settings, fit, reporter)
    targets = outputs.targets(rows)
    own = temperatures(scores, targets, softmax=outputs.softmax)
    stack = fit_stack(scores / own[:, np.newaxis, np.newaxis], targets, softmax=outputs.softmax)
    common = common_fields(data, softmax=outputs.softmax)
    return StackedClassifier(
        parts=tuple(
            replace(part, temperature=float(each)) for part, each in zip(parts, own, strict=True)
        ),
        stack=stack,
        **common._asdict(),
    )


def held_out_scores(
    data: LabelledSet, settings: CombinedClassifier, fit: FitPart, reporter: Reporter
) -> tuple[Int64Array, Float64Array]:
    """Rows, and their raw scores [parts, rows, outputs] by parts that have not seen them."""
    splits = _splits(data, settings)
    progress, parts = reporter.stage("held-out scores", "parts"), settings.fitted_parts
    scores = list[list[Float64Array]]()
    for number, part in enumerate(parts):
        own = list[Float64Array]()
        for done, split in enumerate(splits):
            classifier = fit(data.take(split.train), part, SilentReporter())
            own.append(classifier.raw_scores([data.texts[i] for i in split.test]))
            progress(number * len(splits) + done + 1, len(parts) * len(splits))
        scores.append(own)
    rows = np.concatenate([np.zeros(0, np.int64), *(split.test for split in splits)])
    width = Outputs.of(data).num_outputs
    return rows, np.stack([np.concatenate([np.zeros((0, width)), *own]) for own in scores])


def _splits(data: LabelledSet, settings: CombinedClassifier) -> list[TextSplit]:
    if len(data) > MAX_FOLDED:
        splits = [split_texts(data, HELD_OUT_SHARE, settings.seed)]
    else:
        splits = split_folds(data, settings.folds, settings.seed)
    return [split for split in splits if len(split.train) and len(split.test)]
