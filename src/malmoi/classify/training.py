"""Trains a classifier on texts with labels, and tests it on texts that it has not seen."""

import time
from dataclasses import replace
from os import PathLike

import numpy as np

from malmoi.arguments import expect_path, settings_or_default
from malmoi.arrays import BoolArray, Int64Array
from malmoi.classify.calibration import find_temperature
from malmoi.classify.data.checks import (
    fresh_test_set,
    report_problems,
    split_set,
    without_rare_labels,
)
from malmoi.classify.data.labelled_set import LabelledSet, read_labelled_set
from malmoi.classify.files import save_classifier
from malmoi.classify.fitting import NgramFit
from malmoi.classify.linear_classifier import LinearClassifier
from malmoi.classify.result import ClassifierResult, measure
from malmoi.classify.settings import NgramClassifier
from malmoi.files.targets import check_writable
from malmoi.kernels.classify.sets import Sets
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.tune.data.labelled_texts import stratified_sample
from malmoi.tune.data.tables import DataSource

CALIBRATION_SHARE, MAX_CALIBRATION = 0.05, 5000  # of the training texts


def train_classifier(
    data: DataSource,
    settings: NgramClassifier | None = None,
    *,
    test: DataSource | None = None,
    out: str | PathLike[str] | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> ClassifierResult:
    """Train a classifier on texts with labels, and test it on texts that it has not seen.

    Args:
        data: Texts with labels: a table (CSV, TSV, JSON lines, Parquet, a DataFrame, a list of
            tuples), a folder with one folder of texts per label, or a file in fastText's format.
        settings: The kind of classifier and how it is trained.
        test: Texts to test on; by default a share of `data` is held out.
        out: A file to save the classifier in; `load_classifier` opens it.
        reporter: Receives progress and what was found in the data.

    Returns:
        The classifier, and how good it is.

    Raises:
        InvalidFileError: A file cannot be read or written.
        InvalidArgumentError: The rows are not texts with two labels or more.
    """
    settings = settings_or_default(settings, NgramClassifier)
    expect_reporter(reporter)
    path = None if out is None else expect_path(out, "out")
    if path is not None:
        check_writable(path)
    train, tested, repeats = _parts(data, test, settings, reporter)
    start, cpu = time.monotonic(), time.process_time()
    classifier = fit_classifier(train, settings, reporter)
    result = ClassifierResult(
        classifier=classifier,
        name=train.name,
        train_texts=len(train),
        test_texts=0 if tested is None else len(tested),
        repeats=repeats,
        seconds=time.monotonic() - start,
        cpu_seconds=time.process_time() - cpu,
        scores=None if tested is None else measure(classifier, tested, train),
    )
    if path is not None:
        save_classifier(classifier, path, quantize=settings.quantize)
    return result


def _parts(
    data: DataSource, test: DataSource | None, settings: NgramClassifier, reporter: Reporter
) -> tuple[LabelledSet, LabelledSet | None, int]:
    """The texts to train on, those to test on, and how many of these were left out."""
    every = without_rare_labels(read_labelled_set(data, settings, reporter=reporter), reporter)
    report_problems(every, reporter)
    if test is not None:
        given = read_labelled_set(test, settings, names=every.names, reporter=reporter)
        fresh = fresh_test_set(every, given, settings, reporter)
        return every, fresh, len(given) - len(fresh)
    split = split_set(every, settings, reporter)
    tested = every.take(split.test) if len(split.test) else None
    return every.take(split.train), tested, split.repeats


def fit_classifier(
    data: LabelledSet, settings: NgramClassifier, reporter: Reporter = DEFAULT_REPORTER
) -> LinearClassifier:
    """A linear classifier of all these texts; some calibrate its probabilities."""
    outputs = 1 if len(data.names) == 2 and not data.multi_label else len(data.names)
    softmax = settings.loss == "softmax" and not data.multi_label and outputs > 1
    labels = _second_class(data.labels) if outputs == 1 else data.labels
    fit = NgramFit(data.texts, labels, outputs, settings, softmax, reporter)
    held_out = _held_out(data, settings)
    chosen = np.delete(np.arange(len(data)), held_out)
    weights = fit.fit(chosen)
    if weights.left_out:
        reporter.warn(
            f"{weights.left_out:,} n-grams are left out: {len(data.names):,} labels and all n-grams"
            " do not fit in memory; raise min_count"
        )
    classifier = LinearClassifier(
        labels=data.names,
        multi_label=data.multi_label,
        ngrams=settings.ngrams,
        weights=weights,
        softmax=softmax,
        metadata={"trained on": f"{data.name}, {len(data):,} texts"},
    )
    if not len(held_out):
        return classifier
    scores = classifier._scores([data.texts[i] for i in held_out])
    targets = target_matrix(labels.take(held_out), outputs)
    temperature = find_temperature(scores, targets, softmax=softmax)
    return replace(classifier, temperature=temperature)


def target_matrix(labels: Sets, outputs: int) -> BoolArray:
    """Which labels each text has, [texts, outputs]."""
    targets = np.zeros((len(labels.sizes), outputs), np.bool_)
    targets[np.repeat(np.arange(len(targets)), labels.sizes), labels.items] = True
    return targets


def _second_class(labels: Sets) -> Sets:
    """Labels 0 and 1 as the only output's: class 1 has the label 0, class 0 has none."""
    sizes = labels.items.astype(np.int64)
    return Sets(np.concatenate([[0], np.cumsum(sizes)]), np.zeros(int(sizes.sum()), np.int32))


def _held_out(data: LabelledSet, settings: NgramClassifier) -> Int64Array:
    """The texts that calibrate; none of a label with few texts."""
    if not settings.calibrate:
        return np.zeros(0, np.int64)
    share = min(CALIBRATION_SHARE, MAX_CALIBRATION / len(data))
    return stratified_sample(data.first_labels, share, settings.seed)
