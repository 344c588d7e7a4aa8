"""Trains a classifier on texts with labels, and tests it on texts that it has not seen."""

import time
from os import PathLike

from malmoi.arguments import expect, expect_path
from malmoi.classify.base.settings import ClassifierSettings
from malmoi.classify.combined.settings import CombinedClassifier
from malmoi.classify.files import save_classifier
from malmoi.classify.fitting import fit_classifier
from malmoi.classify.kinds import classifier_settings
from malmoi.classify.networks.settings import FineTunedClassifier
from malmoi.classify.ngrams.settings import NgramClassifier
from malmoi.classify.result import ClassifierResult, measure
from malmoi.files.targets import check_writable
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.tune.data.label_checks import fresh_test_set, read_checked_set, split_set
from malmoi.tune.data.labelled_set import LabelledSet, read_labelled_set
from malmoi.tune.data.tables import DataSource
from malmoi.tune.saving import check_target


def train_classifier(
    data: DataSource,
    settings: ClassifierSettings | str | None = None,
    *,
    test: DataSource | None = None,
    out: str | PathLike[str] | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> ClassifierResult:
    """Train a classifier on texts with labels, and test it on texts that it has not seen.

    Args:
        data: Texts with labels: a table (CSV, TSV, JSON lines, Parquet, a DataFrame, a list of
            tuples), a folder with one folder of texts per label, or a file in fastText's format.
        settings: The kind of classifier and how it is trained, or its name, as
            `classifier_settings` reads it; by default a linear classifier on n-grams.
        test: Texts to test on; by default a share of `data` is held out.
        out: A file to save the classifier in, or a new folder for a fine-tuned transformer;
            `load_classifier` opens it.
        reporter: Receives progress and what was found in the data.

    Returns:
        The classifier, and how good it is.

    Raises:
        InvalidFileError: A file cannot be read or written.
        InvalidArgumentError: The rows are not texts with two labels or more.
    """
    if isinstance(settings, str):
        settings = classifier_settings(settings)
    settings = NgramClassifier() if settings is None else settings
    expect(settings, ClassifierSettings, "settings", "the settings of a classifier")
    expect_reporter(reporter)
    path = None if out is None else expect_path(out, "out")
    if path is not None:
        (check_target if isinstance(settings, FineTunedClassifier) else check_writable)(path)
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
        is_small = isinstance(settings, NgramClassifier | CombinedClassifier) and settings.quantize
        save_classifier(classifier, path, quantize=is_small)
    return result


def _parts(
    data: DataSource, test: DataSource | None, settings: ClassifierSettings, reporter: Reporter
) -> tuple[LabelledSet, LabelledSet | None, int]:
    """The texts to train on, those to test on, and how many of these were left out."""
    every = read_checked_set(
        data, settings.columns, label_separator=settings.label_separator, reporter=reporter
    )
    keep = settings.keep_duplicates
    if test is not None:
        given = read_labelled_set(
            test,
            settings.columns,
            label_separator=settings.label_separator,
            names=every.names,
            reporter=reporter,
        )
        fresh = fresh_test_set(every, given, keep_duplicates=keep, reporter=reporter)
        return every, fresh, len(given) - len(fresh)
    split = split_set(
        every, settings.test_share, settings.seed, keep_duplicates=keep, reporter=reporter
    )
    tested = every.take(split.test) if len(split.test) else None
    return every.take(split.train), tested, split.repeats
