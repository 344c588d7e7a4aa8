"""Texts given in Python as entries: NFC, with ids and fields, or with ids made for them."""

from collections.abc import Iterable, Sequence
from typing import Any

from malmoi.errors import InvalidArgumentError
from malmoi.search.storage.columns import Fields
from malmoi.search.storage.segment import Entry
from malmoi.unicode import normalize


def make_entries(
    texts: Iterable[str],
    ids: Iterable[str] | None = None,
    fields: Iterable[Fields] | None = None,
) -> list[Entry]:
    """An entry a text; without ids they are numbered from 0 on."""
    if isinstance(texts, str):
        raise InvalidArgumentError("texts are a list of strings, not one string")
    each = [normalize("NFC", _text(text, "a text")) for text in texts]
    names = _as_many("ids", ids, each) or [str(i) for i in range(len(each))]
    known = _as_many("fields", fields, each) or [{}] * len(each)
    return [
        Entry(normalize("NFC", _text(name, "an id")), text, it)
        for name, text, it in zip(names, each, known, strict=True)
    ]


def _as_many(what: str, given: Iterable[Any] | None, texts: Sequence[str]) -> list[Any]:
    values = [] if given is None else list(given)
    if given is not None and len(values) != len(texts):
        raise InvalidArgumentError(f"{len(values)} {what} for {len(texts)} texts")
    return values


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise InvalidArgumentError(f"{what} is a string, not {type(value).__name__}")
    return value
