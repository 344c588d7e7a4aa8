"""Checks and normalizes the texts that encoders take: texts as anywhere else, or pairs of them."""

import re
from collections.abc import Iterable, Iterator

from malmoi.errors import InvalidArgumentError
from malmoi.text_inputs import TextLike, as_string, explain_invalid, iterate
from malmoi.unicode import normalize

Text = str | tuple[str, str]  # a text, or a pair of texts
TextOrPair = TextLike | tuple[str, str]  # as users pass them
SURROGATES = re.compile("[\ud800-\udfff]")


def normalize_text(text: str) -> str:
    """NFC, so that Hangul syllables are composed; lone surrogates become U+FFFD."""
    return SURROGATES.sub("\ufffd", normalize("NFC", text))


def check_texts(texts: Iterable[TextOrPair]) -> list[Text]:
    """A list of texts; the tokens of a list are joined by spaces.

    Raises:
        InvalidArgumentError: `texts` is a single string, or contains something else than texts
            and pairs of strings.
    """
    return list(checked_texts(texts))


def checked_texts(texts: Iterable[TextOrPair]) -> Iterator[Text]:
    """The texts of `check_texts`, one after the other."""
    return (_checked(value, position) for position, value in enumerate(iterate(texts), 1))


def _checked(value: object, position: int) -> Text:
    if not isinstance(value, tuple):
        return as_string(value, position)
    if len(value) == 2 and all(isinstance(part, str) for part in value):
        return value
    raise InvalidArgumentError(f"{explain_invalid(value, position)}, or two strings as a pair")


def normalize_texts(texts: Iterable[Text]) -> list[str]:
    """Normalized texts, for encoders that do not take pairs."""
    return [normalize_text(single_text(text)) for text in texts]


def single_text(text: Text) -> str:
    """The text, for encoders that do not take pairs."""
    if isinstance(text, tuple):
        raise InvalidArgumentError(f"{text!r} is a pair of texts, which only transformers take")
    return text
