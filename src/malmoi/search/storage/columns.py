"""The fields of texts: one column per field, each distinct value stored once.

A value is any JSON value. Knows nothing of conditions.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import IntegerArray
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.key_tensors import keys_as_tensors, keys_from_tensors
from malmoi.files.tensors import Tensors, check_tensors
from malmoi.keys import Keys
from malmoi.unicode import normalize

Fields = Mapping[str, Any]
CODES = "field_codes "  # prefix of a field's name


@dataclass(frozen=True, eq=False)
class Column:
    """Row i has the value `values[codes[i] - 1]`, as JSON; code 0 means no value."""

    codes: npt.NDArray[np.uint32]  # [rows]
    values: Keys

    @cached_property
    def decoded(self) -> list[Any]:
        """The distinct values."""
        return [from_json(value) for value in self.values]

    def value(self, row: int) -> Any:
        """The value of a row that has one."""
        return from_json(self.values[int(self.codes[row]) - 1])


def as_json(value: Any) -> str:
    """Encode a value: text in NFC, NumPy numbers as numbers."""
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=lambda it: it.item())
    except (AttributeError, TypeError, ValueError) as error:
        raise InvalidArgumentError(
            f"a field is text, a number or other JSON, not {value!r}"
        ) from error
    return normalize("NFC", text)


def from_json(text: str) -> Any:
    """Decode a stored value."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidFileError(
            f"a field of the index is damaged, '{text[:40]}': build it again"
        ) from error


def make_columns(rows: Sequence[Fields]) -> dict[str, Column]:
    """One column per field; a row without a field, or with None, has no value there."""
    names = {name: None for fields in rows for name in fields}
    columns = {}
    for name in names:
        if not isinstance(name, str) or not name:
            raise InvalidArgumentError(f"a field's name is text, not {name!r}")
        numbers: dict[str, int] = {}
        codes = np.zeros(len(rows), np.uint32)
        for row, fields in enumerate(rows):
            if (value := fields.get(name)) is not None:
                codes[row] = numbers.setdefault(as_json(value), len(numbers)) + 1
        columns[normalize("NFC", name)] = Column(codes, Keys.of(numbers))
    return columns


def join_columns(parts: Sequence[tuple[Mapping[str, Column], IntegerArray]]) -> dict[str, Column]:
    """Join the columns of some rows of several parts."""
    names = {name: None for columns, _ in parts for name in columns}
    return {name: _join([(part.get(name), rows) for part, rows in parts]) for name in names}


def _join(parts: Sequence[tuple[Column | None, IntegerArray]]) -> Column:
    numbers: dict[str, int] = {}
    joined = [np.empty(0, np.uint32)]
    for column, rows in parts:
        if column is None:
            joined.append(np.zeros(len(rows), np.uint32))
            continue
        values = column.values
        codes, at = np.unique(column.codes[rows], return_inverse=True)
        new = [numbers.setdefault(values[i - 1], len(numbers)) + 1 if i else 0 for i in codes]
        joined.append(np.array(new, np.uint32)[at])
    return Column(np.concatenate(joined), Keys.of(numbers))


def columns_as_tensors(columns: Mapping[str, Column]) -> Tensors:
    """The arrays by name."""
    tensors: Tensors = {}
    for name, column in columns.items():
        tensors[CODES + name] = column.codes
        tensors |= keys_as_tensors(column.values, f"field {name}")
    return tensors


def columns_from_tensors(tensors: Tensors, rows: int) -> dict[str, Column]:
    """Read columns from the tensors of a file."""
    columns = {}
    for name in [name.removeprefix(CODES) for name in tensors if name.startswith(CODES)]:
        check_tensors(tensors, 1, **{CODES + name: "<u4"})
        column = Column(tensors[CODES + name], keys_from_tensors(tensors, f"field {name}"))
        if len(column.codes) != rows or np.any(column.codes > len(column.values)):
            raise InvalidArgumentError(f"the field '{name}' does not fit its values")
        columns[name] = column
    return columns
