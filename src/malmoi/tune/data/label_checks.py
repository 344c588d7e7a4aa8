"""Checks of labelled texts that people skip, and the split into texts to train and to test.

Each finding is one sentence to the reporter: repeats, contradicting labels, labels with few texts,
ids that give labels away.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from malmoi.arrays import Int64Array
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import Reporter
from malmoi.tune.data.labelled_set import LabelledSet, read_labelled_set
from malmoi.tune.data.splits import TextSplit, split_texts, stratified_sample
from malmoi.tune.data.tables import DataSource

MIN_TEXTS = 3  # of each label: one to train, one to calibrate, one to test
IMBALANCE = 20  # times as many texts of the most frequent label as of the rarest
LEAK_SHARE = 0.1  # of the changes of label in random order


def read_checked_set(
    source: DataSource, columns: Sequence[str], *, label_separator: str = "", reporter: Reporter
) -> LabelledSet:
    """The texts of labels that have enough of them; what is odd about them is reported."""
    every = read_labelled_set(source, columns, label_separator=label_separator, reporter=reporter)
    every = without_rare_labels(every, reporter)
    report_problems(every, reporter)
    return every


def without_rare_labels(data: LabelledSet, reporter: Reporter) -> LabelledSet:
    """The texts of labels with enough of them; the others are counted and left out."""
    counts = np.bincount(data.labels.items, minlength=len(data.names))
    rare = np.flatnonzero(counts < MIN_TEXTS)
    if not len(rare):
        return data
    if len(data.names) - len(rare) < 2:
        raise InvalidArgumentError(
            f"{data.source} has {len(data.names) - len(rare)} labels with {MIN_TEXTS} texts or"
            " more: a classifier needs two"
        )
    shown = ", ".join(data.names[i] for i in rare[:5]) + (", …" if len(rare) > 5 else "")
    owners = np.repeat(np.arange(len(data)), data.labels.sizes)
    lost = np.unique(owners[np.isin(data.labels.items, rare)])
    reporter.warn(
        f"{data.source}: {len(lost):,} texts are left out: fewer than {MIN_TEXTS} have their label"
        f" ({shown})"
    )
    kept = data.take(np.setdiff1d(np.arange(len(data)), lost))
    numbers = np.cumsum(counts >= MIN_TEXTS) - 1
    labels = kept.labels._replace(items=numbers[kept.labels.items].astype(np.int32))
    names = tuple(name for i, name in enumerate(data.names) if counts[i] >= MIN_TEXTS)
    return LabelledSet(data.source, data.name, kept.texts, labels, names, data.multi_label)


def split_set(
    data: LabelledSet,
    test_share: float,
    seed: int,
    *,
    keep_duplicates: bool = False,
    reporter: Reporter,
) -> TextSplit:
    """A stratified split; test texts that are also trained on are left out and counted."""
    if test_share == 0:
        return TextSplit(np.arange(len(data)), np.zeros(0, np.int64), 0)
    if keep_duplicates:
        test = stratified_sample(data.first_labels, test_share, seed)
        split = TextSplit(np.delete(np.arange(len(data)), test), test, 0)
        seen = {data.texts[i] for i in split.train}
        if repeats := sum(data.texts[i] in seen for i in test):
            reporter.warn(f"{data.source}: {repeats:,} test texts are also trained on")
    else:
        split = split_texts(data, test_share, seed)
        if split.repeats:
            reporter.warn(
                f"{data.source}: {split.repeats:,} repeated texts are not tested on"
                " (keep_duplicates tests them)"
            )
    if not len(split.test):
        raise InvalidArgumentError(
            f"{data.source} has no text to test on that is not trained on: keep duplicates, or set"
            " test_share to 0"
        )
    return split


def fresh_test_set(
    train: LabelledSet, test: LabelledSet, *, keep_duplicates: bool = False, reporter: Reporter
) -> LabelledSet:
    """A test set of its own, without texts that are trained on."""
    seen = set(train.texts)
    fresh = np.array([i for i, text in enumerate(test.texts) if text not in seen], np.int64)
    repeats = len(test) - len(fresh)
    if not repeats or keep_duplicates:
        return test
    if not len(fresh):
        raise InvalidArgumentError(f"all texts of {test.source} are in {train.source} too")
    reporter.warn(
        f"{test.source}: {repeats:,} texts are also in {train.source} and are not tested on"
        " (keep_duplicates tests them)"
    )
    return test.take(fresh)


def report_problems(data: LabelledSet, reporter: Reporter) -> None:
    """Contradicting labels, unequal labels, and ids that give the label away."""
    by_text = defaultdict[str, set[tuple[int, ...]]](set)
    offsets, items = data.labels
    for i, text in enumerate(data.texts):
        by_text[text].add(tuple(items[offsets[i] : offsets[i + 1]].tolist()))
    if contradicted := sum(len(labels) > 1 for labels in by_text.values()):
        reporter.warn(f"{data.source}: {contradicted:,} texts occur with different labels")
    counts = np.bincount(items, minlength=len(data.names))
    if counts.max() > IMBALANCE * counts.min():
        most, least = data.names[int(counts.argmax())], data.names[int(counts.argmin())]
        reporter.warn(
            f"{data.source}: {counts.max():,} texts have the label {most} and {counts.min():,} the"
            f" label {least}: look at macro-F1, or balance the classes"
        )
    if data.ids and _ids_leak(data.ids, data.first_labels):
        reporter.warn(
            f"{data.source}: texts in the order of their ids have their labels in blocks; ids are"
            " not used, but texts may carry what else came with the blocks"
        )


def _ids_leak(ids: tuple[str, ...], labels: Int64Array) -> bool:
    """Whether labels in the order of ids change far less often than in random order."""
    order = np.argsort(np.array([int(each) for each in ids], object), kind="stable")
    ordered = labels[order]
    shares = np.bincount(labels) / len(labels)
    expected = (len(labels) - 1) * (1 - float((shares**2).sum()))
    changes = int((ordered[1:] != ordered[:-1]).sum())
    return expected >= 20 and changes < LEAK_SHARE * expected
