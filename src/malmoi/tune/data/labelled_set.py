"""LabelledSet: texts with one label each, or with several; read from any source.

Sources are tables (files, DataFrames, lists of tuples), folders with one folder of text files per
label, and fastText's format, where a line begins with words such as __label__sport.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import Int64Array
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.sets.test_file import parse_number, set_name
from malmoi.kernels.classify.sets import Sets
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text.readers import text_lines
from malmoi.text_inputs import is_missing
from malmoi.tune.data.tables import DataSource, SkippedRows, TableRows, read_table
from malmoi.tune.data.text_columns import TextColumns, find_columns

PREFIX = "__label__"  # fastText's
MAX_LABELS = 10_000
MIN_SHARE = 2  # texts per label, where labels are numbers with fractions


@dataclass(frozen=True, eq=False)
class LabelledSet:
    """Texts and the numbers of their labels in `names`."""

    source: str  # a path, or what was passed
    name: str
    texts: tuple[str, ...]
    labels: Sets
    names: tuple[str, ...]
    multi_label: bool = False
    ids: tuple[str, ...] = ()  # of a column of ids, which is not used

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def first_labels(self) -> Int64Array:
        """The first label of each text; as many as there are labels where it has none."""
        firsts = np.full(len(self), len(self.names), np.int64)
        has = self.labels.sizes > 0
        firsts[has] = self.labels.items[self.labels.offsets[:-1][has]]
        return firsts

    def take(self, rows: Int64Array) -> "LabelledSet":
        """Some of the texts, with the same labels."""
        texts = tuple(self.texts[i] for i in rows)
        labels = self.labels.take(rows)
        return LabelledSet(self.source, self.name, texts, labels, self.names, self.multi_label)


def read_labelled_set(
    source: DataSource,
    columns: Sequence[str] = (),
    *,
    label_separator: str = "",
    names: Sequence[str] | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> LabelledSet:
    """Texts with labels from a file, a folder, a table, or a list of tuples.

    Args:
        source: The rows.
        columns: The column of the text and that of the label, where they cannot be detected.
        label_separator: What separates several labels of one text.
        names: The labels of a training set, where `source` is its test set.
        reporter: Receives what was detected, and counts of rows that were skipped.

    Returns:
        The texts.

    Raises:
        InvalidFileError: The file cannot be read or has no rows.
        InvalidArgumentError: The rows are not texts with labels.
    """
    path = Path(source) if isinstance(source, str | Path) else None
    ids: list[str] = []
    rows: Iterable[LabelledRow]
    if path is not None and path.is_dir():
        rows, skipped, origin = _folder_rows(path), SkippedRows(), str(path)
    elif path is not None and _is_fasttext(path):
        rows, skipped, origin = _fasttext_rows(path), SkippedRows(), str(path)
    else:
        table = read_table(source, reporter)
        chosen = find_columns(table, columns)
        reporter.warn(f"{table.source}: {chosen.describe()}")
        rows, ids = _table_rows(table, chosen, label_separator)
        skipped, origin = table.skipped, table.source
    matched = _collect(origin, rows, skipped, names)
    skipped.report(origin, reporter)
    if not len(matched):
        raise InvalidArgumentError(f"{origin} has no texts with labels")
    if len(ids) == len(matched):
        matched = LabelledSet(**(matched.__dict__ | {"ids": tuple(ids)}))
    return matched


LabelledRow = tuple[int, str, list[str]]  # line, text, labels


def _collect(
    source: str, rows: Iterable[LabelledRow], skipped: SkippedRows, names: Sequence[str] | None
) -> LabelledSet:
    kept: list[tuple[str, list[str]]] = []
    for line, text, labels in rows:
        if not text.strip():
            skipped.add("no text", line)
        elif not labels:
            skipped.add("no label", line)
        else:
            kept.append((text, labels))
    every = {label for _, labels in kept for label in labels}
    if names is None:
        _check_labels(source, every, len(kept))
        names = sorted(every, key=_sort_key)
    elif unknown := sorted(every - set(names)):
        raise InvalidArgumentError(
            f"{source} has the label '{unknown[0]}', which the training texts do not have"
        )
    numbers = {name: number for number, name in enumerate(names)}
    sets = [list(dict.fromkeys(numbers[label] for label in own)) for _, own in kept]
    several = any(len(own) > 1 for own in sets)
    texts = tuple(text for text, _ in kept)
    name = set_name(Path(source)) if not source.startswith("the ") else "texts"
    return LabelledSet(source, name, texts, Sets.of(sets), tuple(names), several)


def _check_labels(source: str, labels: set[str], texts: int) -> None:
    fractions = [label for label in labels if (parse_number(label) or 0.0) % 1]
    if MIN_SHARE * len(fractions) > len(labels) and len(labels) > texts / MIN_SHARE:
        raise InvalidArgumentError(
            f"the labels of {source} are {len(labels):,} different numbers such as"
            f" {sorted(fractions)[0]}: a classifier needs classes, so group them first"
        )
    if len(labels) == 1:
        raise InvalidArgumentError(
            f"all texts of {source} have the label '{min(labels)}': a classifier needs two"
        )
    if len(labels) > MAX_LABELS or (texts > 20 and len(labels) > 0.9 * texts):
        raise InvalidArgumentError(
            f"{source} has {len(labels):,} labels for {texts:,} texts: name the column of the"
            " text and then that of the label"
        )


def _sort_key(label: str) -> tuple[float, str]:
    number = parse_number(label)
    return (float("inf") if number is None else number, label)


def _table_rows(
    table: TableRows, columns: TextColumns, separator: str
) -> tuple[list[LabelledRow], list[str]]:
    rows: list[LabelledRow] = []
    ids: list[str] = []
    for line, fields in table.rows[columns.first_row :]:
        text, label = (
            fields[i] if i < len(fields) else None for i in (columns.text, columns.label)
        )
        own = text if isinstance(text, str) else ""
        rows.append((line, own, label_names(label, separator)))
        ids += [str(fields[i]) for i in columns.ids[:1] if i < len(fields)]
    return rows, ids


def label_names(value: Any, separator: str = "") -> list[str]:
    """The labels of one text: of a list, or of a string that a separator splits."""
    if isinstance(value, list | tuple | set):
        return [name for each in value for name in label_names(each)]
    if is_missing(value):
        return []
    parts = str(value).split(separator) if separator else [str(value)]
    names = [part.strip() for part in parts]
    return [_whole(name) for name in names if name and name.lower() != "nan"]


def _whole(name: str) -> str:
    """A whole number without a fraction: tables make 1.0 of 1 where a value is missing."""
    number = parse_number(name) if name.endswith(".0") else None
    return name if number is None else str(int(number))


def _is_fasttext(path: Path) -> bool:
    if path.suffix == ".parquet":
        return False
    first = next((line for line, _ in text_lines(path, "utf-8") if line.strip()), "")
    return first.lstrip("\ufeff").startswith(PREFIX)


def _fasttext_rows(path: Path) -> Iterable[LabelledRow]:
    for number, (line, _) in enumerate(text_lines(path, "utf-8"), 1):
        words = line.lstrip("\ufeff").split()
        labels = [word.removeprefix(PREFIX) for word in words if word.startswith(PREFIX)]
        if words:
            text = " ".join(word for word in words if not word.startswith(PREFIX))
            yield number, text, labels


def _folder_rows(path: Path) -> list[LabelledRow]:
    """Each file is a text; the folder that it is in is its label."""
    rows: list[LabelledRow] = []
    for folder in sorted(each for each in path.iterdir() if each.is_dir()):
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            try:
                text = file.read_bytes().decode("utf-8", "replace")
            except OSError as error:
                raise InvalidFileError(f"{file} cannot be read: {error.strerror}") from error
            rows.append((len(rows) + 1, text.removeprefix("\ufeff"), [folder.name]))
    if not rows:
        raise InvalidFileError(f"{path} has no folders of text files, one folder for each label")
    return rows
