"""LabelledTexts: texts with one class each, and their split into texts to learn from and to test.

The test part is stratified, and has no text that is also in the other part: such a text would be
remembered, not classified.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Int64Array
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.scores import seeded_generator
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.tune.data.examples import read_rows
from malmoi.tune.data.tables import DataSource

MIN_TEXTS = 3  # of each class: one to fit, one to choose γ, one to test


@dataclass(frozen=True, eq=False)
class LabelledTexts:
    """Texts and the numbers of their classes."""

    source: str  # a path, or what was passed
    name: str
    texts: tuple[str, ...]
    labels: Int64Array  # [texts]
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, eq=False)
class TextSplit:
    """Row numbers of the texts to learn from and to test; `repeats` are test texts left out."""

    train: Int64Array
    test: Int64Array
    repeats: int


def read_labelled(
    source: DataSource,
    columns: Sequence[str] = (),
    *,
    reporter: Reporter = DEFAULT_REPORTER,
) -> LabelledTexts:
    """Texts with a class each, from a file, a table, or a list of tuples.

    Args:
        source: The rows.
        columns: The column of the text and that of the class, where they cannot be detected.
        reporter: Receives the detected columns, and the counts of rows that were skipped.

    Returns:
        The texts of all classes that have enough of them.

    Raises:
        InvalidFileError: The file cannot be read or has no rows.
        InvalidArgumentError: The rows are not one text and a class.
    """
    rows, chosen = read_rows(source, columns, reporter)
    if rows.kind != "classified texts":
        raise InvalidArgumentError(
            f"{rows.source} does not have one text and a class per row: name the column of the"
            " text, then that of the class"
        )
    reporter.warn(f"{rows.source}: texts with {len(rows.classes):,} classes ({chosen})")
    labels = rows.labels.astype(np.int64)
    counts = np.bincount(labels, minlength=len(rows.classes))
    large = np.flatnonzero(counts >= MIN_TEXTS)
    if len(large) < 2:
        raise InvalidArgumentError(
            f"{rows.source} has {len(large)} classes with {MIN_TEXTS} texts or more: at least two"
            " are needed"
        )
    kept = np.flatnonzero(np.isin(labels, large))
    if len(kept) < len(labels):
        few = ", ".join(rows.classes[i] for i in range(len(counts)) if i not in large)
        reporter.warn(
            f"{rows.source}: {len(labels) - len(kept):,} texts skipped: fewer than {MIN_TEXTS} of"
            f" their class ({few})"
        )
    texts = tuple(rows.texts[i][0] for i in kept)
    names = tuple(rows.classes[i] for i in large)
    return LabelledTexts(rows.source, rows.name, texts, np.searchsorted(large, labels[kept]), names)


def split_texts(data: LabelledTexts, test_share: float, seed: int) -> TextSplit:
    """A stratified split; texts that are in both parts, or twice in the test part, are left out."""
    test = stratified_sample(data.labels, test_share, seed)
    train = np.delete(np.arange(len(data)), test)
    seen = {data.texts[i] for i in train}
    distinct = []
    for i in test.tolist():
        if data.texts[i] not in seen:
            seen.add(data.texts[i])
            distinct.append(i)
    return TextSplit(train, np.array(distinct, np.int64), len(test) - len(distinct))


def stratified_sample(labels: Int64Array, share: float, seed: int) -> Int64Array:
    """Rows that are a share of each class, one of each at least, in ascending order."""
    random, chosen = seeded_generator(seed), []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        count = max(1, round(share * len(members)))
        chosen.append(random.permutation(members)[:count])
    return np.sort(np.concatenate(chosen))
