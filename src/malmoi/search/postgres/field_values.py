"""Entries as PostgreSQL stores them: fields as JSON, numbers beside them, and what is refused.

The fields of most texts have few different values: each is encoded once.
"""

import json
import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from malmoi.errors import InvalidArgumentError, shorten
from malmoi.search.querying.filters import as_number
from malmoi.search.storage.columns import Fields, as_json
from malmoi.search.storage.entry import Entry
from malmoi.unicode import normalize

MAX_ID_BYTES = 2600  # of a key of a B-tree
MAX_SHOWN = 60  # characters of an id in a message
ESCAPED_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # in JSON
CACHED_VALUES = 1 << 16
PLAIN = (str, int, float, bool)  # hashable, and equal only to values of the same kind


class EncodedField(NamedTuple):
    """A field as a member of a JSON object, and its number; both without the braces."""

    member: bytes
    number: bytes  # empty if `>` does not compare it


def check_storable(entries: Iterable[Entry]) -> None:
    """Raise `InvalidArgumentError` for what PostgreSQL cannot store."""
    for entry in entries:
        try:
            size = len(entry.id.encode())
            entry.text.encode()
        except UnicodeEncodeError as error:
            raise InvalidArgumentError(
                f"the text '{shorten(repr(entry.id), MAX_SHOWN)}' is not valid Unicode, which"
                " PostgreSQL cannot store"
            ) from error
        if "\0" in entry.id or "\0" in entry.text:
            raise InvalidArgumentError(
                f"the text '{shorten(entry.id, MAX_SHOWN)}' holds the character NUL, which"
                " PostgreSQL cannot store"
            )
        if size > MAX_ID_BYTES:
            raise InvalidArgumentError(
                f"the id '{shorten(entry.id, MAX_SHOWN)}' has {size:,} bytes: PostgreSQL indexes"
                f" at most {MAX_ID_BYTES:,}"
            )
        fields_as_json(entry.fields)


def known_fields(fields: Fields) -> dict[str, Any]:
    """The fields that have a value, by their names in NFC."""
    if not fields:
        return {}
    for name in fields:
        if not isinstance(name, str) or not name:
            raise InvalidArgumentError(f"a field's name is text, not {name!r}")
    return {normalize("NFC", name): it for name, it in fields.items() if it is not None}


def fields_as_json(fields: Fields) -> tuple[bytes, bytes]:
    """The fields as JSON, and as a binary jsonb object those that `>` compares as numbers."""
    encoded = [
        _cached(name, type(value).__name__, value)
        if type(value) in PLAIN
        else _encoded(name, value)
        for name, value in known_fields(fields).items()
    ]
    members = b", ".join([each.member for each in encoded])
    numbers = b", ".join([each.number for each in encoded if each.number])
    return b"{" + members + b"}", b"\x01{" + numbers + b"}"


@lru_cache(CACHED_VALUES)
def _cached(name: str, kind: str, value: Any) -> EncodedField:
    return _encoded(name, value)


def _encoded(name: str, value: Any) -> EncodedField:
    text, key = as_json(value), as_json(name)
    try:
        member = f"{key}: {text}".encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(
            f"the field '{name!r}' is not valid Unicode, which PostgreSQL cannot store"
        ) from error
    if ESCAPED_NUL.search(text) or ESCAPED_NUL.search(key):
        raise InvalidArgumentError(
            f"the field '{name}' holds the character NUL, which PostgreSQL cannot store"
        )

    def refuse(constant: str) -> None:
        raise InvalidArgumentError(
            f"the field '{name}' is {constant}, which JSON in PostgreSQL cannot hold: leave it out"
        )

    number = as_number(json.loads(text, parse_constant=refuse))
    if number is None or math.isnan(number):
        return EncodedField(member, b"")
    shown = number if math.isfinite(number) else str(number)
    return EncodedField(member, f"{key}: {json.dumps(shown)}".encode())
