"""Conditions on fields: which rows may be found at all.

`{"lang": "ko"}`, `{"lang": ["ko", "en"]}`, or as on the command line `"year>=2020"`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any

import numpy as np

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
    """A field, one of = != >= <= > <, and a value; = and != take several, any of which will do."""

    field: str
    relation: str
    values: tuple[str, ...]

    def holds(self, column: Column | None, rows: int) -> BoolArray:
        """For each row whether it fits; without a value, only != does."""
        if column is None:
            return np.full(rows, self.relation == "!=")
        fits = np.zeros(len(column.values) + 1, dtype=bool)  # by code: 0 is no value
        if self.relation in ORDERS:
            fits[1:] = _compare_values(column, self.relation, self.values[0])
        else:
            fits[[code + 1 for code in _equal_values(column, self.values)]] = True
            if self.relation == "!=":
                fits = ~fits
        found: BoolArray = fits[column.codes]
        return found


def conditions(where: Where | None) -> tuple[Condition, ...]:
    """All that must hold."""
    if where is None:
        return ()
    if isinstance(where, str):
        return (parse_condition(where),)
    if isinstance(where, Mapping):
        return tuple(
            Condition(normalize("NFC", name), "=", _as_texts(value))
            for name, value in where.items()
        )
    return tuple(parse_condition(one) for one in where)


def parse_condition(text: str) -> Condition:
    """`field=value`, `field!=value`, `field>=2020` and so on."""
    whole = normalize("NFC", text)
    relation, start = _first_relation(whole)
    field, value = whole[:start].strip(), whole[start + len(relation) :].strip()
    if not relation or not field:
        raise InvalidArgumentError(
            f"'{text}' is no filter: write field=value, field!=value or field>=2020"
        )
    return Condition(field, relation, (value,))


def _first_relation(text: str) -> tuple[str, int]:
    """The first of = != >= <= > < after a field's name, and where it stands; "" if there is none.

    Every place is looked at once, so the longest text takes time in proportion to its length.
    """
    start = len(text) - len(text.lstrip()) + 1  # a name has at least one character
    for place in range(start, len(text)):
        if text[place] in RELATION_CHARS:
            for relation in (text[place : place + 2], text[place]):
                if relation in RELATIONS:
                    return relation, place
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
    """The values that are one of these texts, or the number or truth that a text spells."""
    forms = [form for text in texts for form in (as_json(text), text, f"{text}.0")]
    return [row for row in column.values.find_all(forms).tolist() if row >= 0]


def _compare_values(column: Column, relation: str, text: str) -> list[bool]:
    """Whether each value stands so to a number; to a text that is none, such as a date."""
    order, number = ORDERS[relation], _number(text)
    if number is None:
        return [isinstance(it, str) and bool(order(it, text)) for it in column.decoded]
    found = [_number(it) for it in column.decoded]
    return [it is not None and bool(order(it, number)) for it in found]


def _number(value: Any) -> float | None:
    if isinstance(value, bool | list | dict):
        return None
    try:
        return float(value)
    except ValueError:
        return None
