"""Texts as encoders take them: a list or a stream of strings, made uniform."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar
from unicodedata import normalize

from malmoi.errors import BadSetting

Text = str | tuple[str, str]  # a text, or a pair of them
One = TypeVar("One")
SURROGATES = re.compile("[\ud800-\udfff]")


def uniform(text: str) -> str:
    """NFC, so that Hangul is whole; what cannot be written as UTF-8 becomes U+FFFD."""
    return SURROGATES.sub("\ufffd", normalize("NFC", text))


def as_texts(texts: Iterable[Text]) -> list[Text]:
    """A list of texts; one alone is a mistake."""
    _refuse_one(texts)
    found = list(texts)
    for text in found:
        both = text if isinstance(text, tuple) and len(text) == 2 else (text,)
        if not all(isinstance(part, str) for part in both):
            raise BadSetting(f"{text!r} is no text: give a string, or a pair of them")
    return found


def chunks_of(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """So many texts at a time, made uniform, for encoders that know no pairs."""
    _refuse_one(texts)
    left = iter(texts)
    while chunk := [uniform(_single(text)) for text in islice(left, size)]:
        yield chunk


def _refuse_one(texts: Iterable[One]) -> None:
    if isinstance(texts, str):
        raise BadSetting(f"the texts are the one string '{texts[:40]}': give a list of texts")


def _single(text: str) -> str:
    if isinstance(text, tuple):
        raise BadSetting(f"{text!r} is a pair of texts, which only a model with layers reads")
    if not isinstance(text, str):
        raise BadSetting(f"{text!r} is no text: give a string")
    return text
