"""Texts as encoders take them: a list or a stream of strings, made uniform."""

import re
from collections.abc import Iterable

from malmoi.errors import InvalidArgumentError
from malmoi.unicode import normalize

Text = str | tuple[str, str]  # a text, or a pair of them
SURROGATES = re.compile("[\ud800-\udfff]")


def uniform(text: str) -> str:
    """NFC, so that Hangul is whole; what cannot be written as UTF-8 becomes U+FFFD."""
    return SURROGATES.sub("\ufffd", normalize("NFC", text))


def as_texts(texts: Iterable[Text]) -> list[Text]:
    """A list of texts; one alone is a mistake."""
    if isinstance(texts, str | bytes):
        raise InvalidArgumentError(
            f"the texts are the one string {texts[:40]!r}: give a list of texts"
        )
    found = list(texts)
    for text in found:
        both = text if isinstance(text, tuple) and len(text) == 2 else (text,)
        if not all(isinstance(part, str) for part in both):
            raise InvalidArgumentError(
                f"{text!r} is no text: give a string, or a tuple of two for a pair"
            )
    return found


def uniform_texts(texts: Iterable[Text]) -> list[str]:
    """Texts made uniform, for encoders that know no pairs."""
    return [uniform(_single(text)) for text in texts]


def _single(text: Text) -> str:
    if isinstance(text, tuple):
        raise InvalidArgumentError(
            f"{text!r} is a pair of texts, which only a model with layers reads"
        )
    return text
