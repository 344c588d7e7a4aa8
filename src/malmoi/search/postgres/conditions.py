"""Filters as SQL: the same conditions on fields as those of an index in a folder.

Values are compared as the JSON text that they are stored as; a containment of jsonb beside it lets
the database use an index on fields.
"""

import json
from collections.abc import Sequence
from math import isnan
from typing import Any

from psycopg import sql
from psycopg.types.json import Jsonb

from malmoi.errors import InvalidArgumentError
from malmoi.search.querying.filters import ORDERS, Condition, as_number, json_forms

Clause = tuple[sql.Composable, list[Any]]  # with its parameters


def where_clause(conditions: Sequence[Condition]) -> Clause | None:
    """All conditions on the table `t` of texts; None if there are none."""
    if not conditions:
        return None
    clauses = [_clause(condition) for condition in conditions]
    parts = [sql.SQL("({})").format(clause) for clause, _ in clauses]
    return sql.SQL(" AND ").join(parts), [each for _, values in clauses for each in values]


def _clause(condition: Condition) -> Clause:
    if any("\0" in text for text in (condition.field, *condition.values)):
        raise InvalidArgumentError("a filter holds the character NUL, which PostgreSQL cannot")
    if condition.relation in ORDERS:
        return _order(condition)
    forms = [form for text in condition.values for form in json_forms(text)]
    equal = sql.SQL("coalesce((t.fields -> %s)::text = ANY(%s::text[]), false)")
    if condition.relation == "!=":
        return sql.SQL("NOT {}").format(equal), [condition.field, forms]
    contained = [Jsonb({condition.field: value}) for value in _values(condition.values)]
    indexed = sql.SQL(" OR ").join([sql.SQL("t.fields::jsonb @> %s")] * len(contained))
    if not contained:
        return sql.SQL("false"), []
    return sql.SQL("({}) AND {}").format(indexed, equal), [*contained, condition.field, forms]


def _order(condition: Condition) -> Clause:
    """Compare with a number, or with a text such as a date."""
    (text,) = condition.values
    relation, number = sql.SQL(condition.relation), as_number(text)
    if number is None:
        clause = sql.SQL(
            "coalesce(json_typeof(t.fields -> %s) = 'string' AND"
            ' (t.fields ->> %s) COLLATE "C" {} %s, false)'
        ).format(relation)
        return clause, [condition.field, condition.field, text]
    if isnan(number):
        return sql.SQL("false"), []
    clause = sql.SQL("coalesce((t.numbers ->> %s)::float8 {} %s::float8, false)").format(relation)
    return clause, [condition.field, number]


def _values(texts: Sequence[str]) -> list[Any]:
    """The values that may be stored as one of these texts: the texts, and what they spell."""
    values: list[Any] = list(texts)
    for text in texts:
        try:
            spelled = json.loads(text, parse_constant=lambda name: None)
        except (ValueError, RecursionError):
            continue
        if spelled is not None and not isinstance(spelled, str):
            values.append(spelled)
    return values
