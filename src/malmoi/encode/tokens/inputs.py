"""Checks and normalizes the texts that encoders take."""

import re
from collections.abc import Iterable

from malmoi.errors import InvalidArgumentError
from malmoi.unicode import normalize

Text = str | tuple[str, str]  # a text, or a pair of texts
SURROGATES = re.compile("[\ud800-\udfff]")


def normalize_text(text: str) -> str:
    """NFC, so that Hangul syllables are composed; lone surrogates become U+FFFD."""
    return SURROGATES.sub("\ufffd", normalize("NFC", text))


def check_texts(texts: Iterable[Text]) -> list[Text]:
    """A list of texts.

    Raises:
        InvalidArgumentError: `texts` is a single string, or contains something else than strings
            and pairs of strings.
    """
    if isinstance(texts, str | bytes):
        raise InvalidArgumentError(
            f"texts is the single string {texts[:40]!r}: pass a list of texts"
        )
    checked = list(texts)
    for text in checked:
        parts = text if isinstance(text, tuple) and len(text) == 2 else (text,)
        if not all(isinstance(part, str) for part in parts):
            raise InvalidArgumentError(
                f"{text!r} is not a text: pass a string, or a tuple of two strings for a pair"
            )
    return checked


def normalize_texts(texts: Iterable[Text]) -> list[str]:
    """Normalized texts, for encoders that do not take pairs."""
    return [normalize_text(_single(text)) for text in texts]


def _single(text: Text) -> str:
    if isinstance(text, tuple):
        raise InvalidArgumentError(f"{text!r} is a pair of texts, which only transformers take")
    return text
