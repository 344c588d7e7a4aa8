"""Which columns of a table hold the texts and the label: by name, by number, or detected."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.sets.test_file import is_number
from malmoi.text_inputs import is_missing
from malmoi.tune.data.tables import TableRows

TEXT_NAMES: tuple[tuple[str, ...], ...] = (  # of the first, second and third text
    (
        *("anchor", "query", "question", "premise", "sentence1", "sentence_1", "sentence_a"),
        *("text1", "text_1", "text_a", "first", "source", "text", "sentence", "document"),
    ),
    (
        *("positive", "answer", "hypothesis", "sentence2", "sentence_2", "sentence_b"),
        *("text2", "text_2", "text_b", "second", "target", "passage", "paraphrase"),
    ),
    ("negative", "hard_negative", "negative_1", "sentence3", "text3", "third"),
)
FURTHER_NEGATIVE = re.compile(r"(hard_)?negative_?\d+")  # of which there may be several
LABEL_NAMES = (
    *("score", "similarity_score", "similarity", "relatedness_score", "margin"),
    *("gold_label", "label", "labels", "class", "category"),
)
MAX_TEXTS = 32
MAX_UNNAMED_TEXTS = 3
MAX_CLASSES = 200  # of labels that are not numbers
EXAMINED_ROWS = 1000
EXPECTED = "name the columns of the texts and then of the label, or give their numbers from 1"


@dataclass(frozen=True)
class ChosenColumns:
    """The indices of the texts and of the label; `first_row` is 1 after a header."""

    texts: tuple[int, ...]
    label: int | None
    first_row: int = 0

    def describe(self, table: TableRows) -> str:
        """The columns by name, or by number from 1."""
        indices = [*self.texts, *([] if self.label is None else [self.label])]
        names = table.names or (
            table.rows[0][1] if self.first_row else range(1, len(table.rows[0][1]) + 1)
        )
        return (
            f"column{'s' if len(indices) > 1 else ''} {', '.join(str(names[i]) for i in indices)}"
        )


def choose_columns(
    table: TableRows, columns: Sequence[str] = (), *, may_have_label: bool = True
) -> ChosenColumns:
    """The columns of the texts and the label of a table.

    Of named columns the last one is a label if its name says so or, for other names, its values;
    without `may_have_label` all of them are texts.

    Raises:
        InvalidArgumentError: A named column does not exist, or the columns are ambiguous.
    """
    header, first_row = _header(table, columns)
    rows = [fields for _, fields in table.rows[first_row : first_row + EXAMINED_ROWS]]
    if columns:
        indices = [column_index(table, header, name) for name in columns]
        has_label = may_have_label and len(indices) > 1
        has_label = has_label and _is_named_label(header[indices[-1]], rows, indices[-1])
        texts = indices[:-1] if has_label else indices
        label = indices[-1] if has_label else None
    else:
        texts, label = _by_name(header) or _by_content(table, header, rows)
    if not 1 <= len(texts) <= MAX_TEXTS:
        raise InvalidArgumentError(
            f"{table.source} has {len(texts)} columns of texts: {EXPECTED}; it has"
            f" {', '.join(header)}"
        )
    return ChosenColumns(tuple(texts), label, first_row)


def _header(table: TableRows, columns: Sequence[str]) -> tuple[list[str], int]:
    """The names of the columns, or their numbers, and how many rows they take."""
    if table.names is not None:
        return [str(name).strip() for name in table.names], 0
    first = [str(field).strip() for field in table.rows[0][1]]
    known = {name for names in (*TEXT_NAMES, LABEL_NAMES) for name in names}
    has_names = any(name.lower() in known for name in first) or any(
        name in first for name in columns
    )
    if has_names or _numbers_below(table, first):
        return first, 1
    return [str(number) for number in range(1, len(first) + 1)], 0


def _numbers_below(table: TableRows, first: Sequence[str]) -> bool:
    """Whether a column holds numbers from the second row on, so that the first holds names."""
    rows = [fields for _, fields in table.rows[1:EXAMINED_ROWS] if len(fields) == len(first)]
    return bool(rows) and any(
        not is_number(name) and all(is_number(str(row[i])) for row in rows)
        for i, name in enumerate(first)
    )


def column_index(table: TableRows, header: Sequence[str], name: str) -> int:
    """The index of a column by its name, or by its number from 1."""
    if name in header:
        return header.index(name)
    if name.isdecimal() and 1 <= int(name) <= len(header):
        return int(name) - 1
    raise InvalidArgumentError(
        f"{table.source} has no column '{name}': its columns are {', '.join(header)}"
    )


def _by_name(header: Sequence[str]) -> tuple[list[int], int | None] | None:
    lower = [name.lower() for name in header]
    texts: list[int] = []
    for names in TEXT_NAMES:
        index = next((lower.index(name) for name in names if name in lower), None)
        if index is None:
            break
        texts.append(index)
    if len(texts) == len(TEXT_NAMES):
        negatives = [i for i, name in enumerate(lower) if FURTHER_NEGATIVE.fullmatch(name)]
        texts += [i for i in negatives if i not in texts]
    label = next((lower.index(name) for name in LABEL_NAMES if name in lower), None)
    return (texts, label) if texts and (label is not None or len(texts) > 1) else None


def _by_content(
    table: TableRows, header: Sequence[str], rows: Sequence[Sequence[Any]]
) -> tuple[list[int], int | None]:
    """A single column of numbers or of few different values is the label, all others are texts."""
    labels = [i for i in range(len(header)) if _is_label(rows, i)]
    texts = [i for i in range(len(header)) if i not in labels]
    if len(labels) > 1 or len(texts) > MAX_UNNAMED_TEXTS or not texts:
        raise InvalidArgumentError(
            f"the columns of the texts and the label in {table.source} are ambiguous: {EXPECTED};"
            f" it has {', '.join(header)}"
        )
    return texts, labels[0] if labels else None


def _is_named_label(name: str, rows: Sequence[Sequence[Any]], column: int) -> bool:
    """Whether a column that was named is a label: a known name counts more than its values."""
    lower = name.lower()
    is_text = any(lower in names for names in TEXT_NAMES) or FURTHER_NEGATIVE.fullmatch(lower)
    return lower in LABEL_NAMES or (not is_text and _is_label(rows, column))


def _is_label(rows: Sequence[Sequence[Any]], column: int) -> bool:
    """Whether a column holds numbers, or classes: few values, each of which occurs repeatedly."""
    values = [row[column] for row in rows if len(row) > column and not is_missing(row[column])]
    strings = [str(value).strip() for value in values]
    if not strings:
        return False
    if 2 * sum(map(is_number, strings)) > len(strings):
        return True
    distinct = set(strings)
    repeated = 2 <= len(distinct) <= min(MAX_CLASSES, len(strings) // 2)
    return repeated and all(len(value.split()) <= 2 for value in distinct)
