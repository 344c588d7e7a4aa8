"""Trains a linear classifier on the n-grams of labelled texts, and calibrates it."""

import numpy as np

from malmoi.classify.ngrams.fitting import NgramFit
from malmoi.classify.ngrams.linear_classifier import LinearClassifier
from malmoi.classify.ngrams.settings import NgramClassifier
from malmoi.classify.outputs import Outputs, calibrated, calibration_rows, common_fields
from malmoi.reporting.reporter import Reporter
from malmoi.tune.data.labelled_set import LabelledSet


def fit_ngrams(
    data: LabelledSet, settings: NgramClassifier, reporter: Reporter
) -> LinearClassifier:
    """A linear classifier of all these texts; some calibrate its probabilities."""
    outputs = Outputs.of(data, one_versus_rest=settings.loss == "one_versus_rest")
    held_out = calibration_rows(data, settings)
    chosen = np.delete(np.arange(len(data)), held_out)
    weights = NgramFit(data.texts, outputs, settings, reporter).fit(chosen)
    if weights.left_out:
        reporter.warn(
            f"{weights.left_out:,} n-grams are left out: {len(data.names):,} labels and all n-grams"
            " do not fit in memory; raise min_count"
        )
    common = common_fields(data, softmax=outputs.softmax)
    classifier = LinearClassifier(ngrams=settings.ngrams, weights=weights, **common._asdict())
    return calibrated(classifier, data, outputs, held_out)
