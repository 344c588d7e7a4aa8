"""Which columns of a table hold the text and its label: by name, by number, or detected.

A column of ids, numbers that hardly repeat, is neither.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.sets.test_file import is_number
from malmoi.text_inputs import is_missing
from malmoi.tune.data.columns import LABEL_NAMES, MAX_CLASSES, TEXT_NAMES, column_index
from malmoi.tune.data.tables import TableRows

TEXTS = (*TEXT_NAMES[0], "review", "message", "comment", "content", "body", "v2")
LABELS = (*LABEL_NAMES[5:], "target", "sentiment", "group", "topic", "rating", "v1")
EXAMINED_ROWS = 2000
ID_SHARE = 0.9  # of distinct values in a column of ids
EXPECTED = "name the column of the text and then that of the label, or give their numbers from 1"


@dataclass(frozen=True)
class TextColumns:
    """The indices of the text, the label and ids; `first_row` is 1 after a header."""

    header: tuple[str, ...]
    text: int
    label: int
    ids: tuple[int, ...]
    first_row: int

    def describe(self) -> str:
        """The chosen columns by name."""
        text, label = self.header[self.text], self.header[self.label]
        ids = ", ".join(self.header[i] for i in self.ids)
        unused = f"; {ids} holds ids and is not used" if ids else ""
        return f"text in column {text}, label in column {label}{unused}"


def find_columns(table: TableRows, columns: Sequence[str] = ()) -> TextColumns:
    """The column of the text and that of the label.

    Raises:
        InvalidArgumentError: A named column does not exist, or the columns are ambiguous.
    """
    header, first_row = _header(table, columns)
    rows = [fields for _, fields in table.rows[first_row : first_row + EXAMINED_ROWS]]
    filled = [i for i in range(len(header)) if any(_value(row, i) for row in rows)]
    ids = tuple(i for i in filled if _is_ids(rows, i))
    if columns:
        if len(columns) != 2:
            raise InvalidArgumentError(f"columns are {', '.join(columns)}: {EXPECTED}")
        text, label = (column_index(table, header, name) for name in columns)
    else:
        text, label = _detect(table, header, rows, [i for i in filled if i not in ids])
    unused = tuple(i for i in ids if i not in (text, label))
    return TextColumns(tuple(header), text, label, unused, first_row)


def _detect(
    table: TableRows, header: Sequence[str], rows: Sequence[Sequence[Any]], filled: list[int]
) -> tuple[int, int]:
    lower = [name.lower() for name in header]
    named_text = [lower.index(name) for name in TEXTS if name in lower]
    named_label = [lower.index(name) for name in LABELS if name in lower]
    by_length = sorted(filled, key=lambda i: _likeness_to_text(rows, i), reverse=True)
    labels = named_label or [i for i in filled if _is_class(rows, i) and i not in named_text]
    if not labels and len(filled) == 2:
        labels = by_length[1:]
    texts = [i for i in named_text or by_length if i not in labels[:1]]
    is_clear = len(labels) == 1 or bool(named_label)
    if not texts or not is_clear or texts[0] == labels[0]:
        raise InvalidArgumentError(
            f"the columns of the text and the label in {table.source} are ambiguous: {EXPECTED};"
            f" it has {', '.join(filter(None, header))}"
        )
    return texts[0], labels[0]


def _likeness_to_text(rows: Sequence[Sequence[Any]], column: int) -> tuple[bool, int]:
    """A column of texts is not one of numbers, and is long."""
    values = [_value(row, column) for row in rows]
    return 2 * sum(map(is_number, values)) <= len(values), sum(map(len, values))


def _header(table: TableRows, columns: Sequence[str]) -> tuple[list[str], int]:
    """The names of the columns, or their numbers, and how many rows they take.

    The first row holds names if one of them is known, or if a column of classes or numbers has a
    value there that it has nowhere else.
    """
    if table.names is not None:
        return [str(name).strip() for name in table.names], 0
    first = [str(field).strip() for field in table.rows[0][1]]
    rows = [fields for _, fields in table.rows[1 : EXAMINED_ROWS + 1]]
    known = {*TEXTS, *LABELS, *columns}
    if any(name.lower() in known or name in known for name in first if not name.isdecimal()):
        return first, 1
    for i, name in enumerate(first):
        is_new = name and not is_number(name) and name not in {_value(row, i) for row in rows}
        if is_new and (_is_class(rows, i) or _is_ids(rows, i)):
            return first, 1
    return [str(number) for number in range(1, len(first) + 1)], 0


def _is_class(rows: Sequence[Sequence[Any]], column: int) -> bool:
    """Whether a column has few values of few words, which repeat."""
    values = [value for row in rows if (value := _value(row, column))]
    distinct = set(values)
    repeated = 2 <= len(distinct) <= min(MAX_CLASSES, max(2, len(values) // 2))
    return repeated and len(values) > 2 and all(len(value.split()) <= 3 for value in distinct)


def _is_ids(rows: Sequence[Sequence[Any]], column: int) -> bool:
    """Whether a column has whole numbers that hardly repeat."""
    values = [value for row in rows if (value := _value(row, column))]
    numbers = [value for value in values if value.removeprefix("-").isdecimal()]
    is_numeric = len(values) > 2 and len(numbers) == len(values)
    return is_numeric and len(set(values)) >= max(3, ID_SHARE * len(values))


def _value(row: Sequence[Any], column: int) -> str:
    value = row[column] if column < len(row) else ""
    return "" if is_missing(value) else str(value).strip()
