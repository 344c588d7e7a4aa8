"""Filters: conditions on fields that results must meet.

`{"lang": "ko"}`, `{"lang": ["ko", "en"]}`, or as on the command line `"year>=2020"`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any

import numpy as np

from malmoi.arguments import expect
from malmoi.arrays import BoolArray
from malmoi.errors import InvalidArgumentError
from malmoi.search.storage.columns import Column, as_json
from malmoi.unicode import normalize

Where = Mapping[str, Any] | str | Sequence[str]
ORDERS: dict[str, Callable[[Any, Any], Any]] = {">=": ge, "<=": le, ">": gt, "<": lt}
RELATIONS = ("=", "!=", *ORDERS)
RELATION_CHARS = "!=<>"  # a relation begins with one of these


@dataclass(frozen=True)
class Condition:
    """A field, one of = != >= <= > <, and a value; = and != accept several alternatives."""

    field: str
    relation: str
    values: tuple[str, ...]

    def holds(self, column: Column | None, rows: int) -> BoolArray:
        """Whether each row meets the condition; a row without a value only meets !=."""
        if column is None:
            return np.full(rows, self.relation == "!=")
        fits = np.zeros(len(column.values) + 1, dtype=bool)  # by code: 0 means no value
        if self.relation in ORDERS:
            fits[1:] = _compare_values(column, self.relation, self.values[0])
        else:
            fits[[code + 1 for code in _equal_values(column, self.values)]] = True
            if self.relation == "!=":
                fits = ~fits
        mask: BoolArray = fits[column.codes]
        return mask


def conditions(where: Where | None) -> tuple[Condition, ...]:
    """The conditions of a filter, all of which must hold."""
    if where is None:
        return ()
    if isinstance(where, str):
        return (parse_condition(where),)
    if isinstance(where, Mapping):
        return tuple(
            Condition(normalize("NFC", name), "=", _as_texts(value))
            for name, value in where.items()
        )
    expect(where, Iterable, "where", "a filter such as {'lang': 'ko'} or 'year>=2020'")
    return tuple(parse_condition(one) for one in where)


def check_fields(wanted: Iterable[Condition], names: Sequence[str]) -> None:
    """Raise `InvalidArgumentError` for a condition on a field that no text has."""
    for condition in wanted:
        if condition.field not in names:
            known = f"there are {', '.join(names)}" if names else "there are none"
            raise InvalidArgumentError(f"no text has the field '{condition.field}': {known}")


def parse_condition(text: str) -> Condition:
    """Parse `field=value`, `field!=value`, `field>=2020` and so on."""
    expect(text, str, "a filter", "a string such as 'year>=2020'")
    whole = normalize("NFC", text)
    relation, start = _first_relation(whole)
    field, value = whole[:start].strip(), whole[start + len(relation) :].strip()
    if not relation or not field:
        raise InvalidArgumentError(
            f"'{text}' is not a filter: write field=value, field!=value or field>=2020"
        )
    return Condition(field, relation, (value,))


def _first_relation(text: str) -> tuple[str, int]:
    """The first of = != >= <= > < after a field's name, and its position; "" if there is none.

    Each position is checked once, so that the time is linear in the length of the text.
    """
    start = len(text) - len(text.lstrip()) + 1  # a name has at least one character
    for position in range(start, len(text)):
        if text[position] in RELATION_CHARS:
            for relation in (text[position : position + 2], text[position]):
                if relation in RELATIONS:
                    return relation, position
    return "", len(text)


def as_text(value: Any) -> str:
    """A value as people write it: 2020 and "2020" and 2020.0 are the same."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return normalize("NFC", value) if isinstance(value, str) else as_json(value)


def _as_texts(value: Any) -> tuple[str, ...]:
    several = isinstance(value, Iterable) and not isinstance(value, str | Mapping)
    return tuple(as_text(one) for one in (value if several else [value]))


def _equal_values(column: Column, texts: Iterable[str]) -> list[int]:
    """The codes of values equal to one of these texts, or to the number or boolean it spells."""
    forms = [form for text in texts for form in json_forms(text)]
    return [row for row in column.values.find_all(forms).tolist() if row >= 0]


def json_forms(text: str) -> tuple[str, str, str]:
    """A text, and the number or boolean it spells, as they are stored."""
    return as_json(text), text, f"{text}.0"


def _compare_values(column: Column, relation: str, text: str) -> list[bool]:
    """Compare each value with a number, or with a text such as a date."""
    order, number = ORDERS[relation], as_number(text)
    if number is None:
        return [isinstance(it, str) and bool(order(it, text)) for it in column.decoded]
    numbers = [as_number(it) for it in column.decoded]
    return [it is not None and bool(order(it, number)) for it in numbers]


def as_number(value: Any) -> float | None:
    """A value as the number that `>` and its relatives compare; None if it is not a number."""
    if isinstance(value, bool | list | dict):
        return None
    try:
        return float(value)
    except (OverflowError, ValueError):
        return None
