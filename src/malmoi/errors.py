"""The exceptions and warnings of malmoi; each message names the value, the place and the fix."""

import codecs
import sys
import warnings
from collections.abc import Sequence

MAX_MESSAGE_CHARACTERS = 1000


def printable(text: str) -> str:
    """Escape what a terminal cannot print: undecodable bytes as \\xNN, surrogates as \\uNNNN."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a lone surrogate that does not stand for a byte
        return text.encode("utf-8", "backslashreplace").decode()


def shorten(sentence: str, max_characters: int = MAX_MESSAGE_CHARACTERS) -> str:
    """Cut out the middle of a sentence that quotes a long value; the fix is at its end."""
    if len(sentence) <= max_characters:
        return sentence
    half = max_characters // 2
    return f"{sentence[:half]} […] {sentence[-half:]}"


class MalmoiError(Exception):
    """Base class of all errors that malmoi raises on purpose; its message is one sentence."""

    def __init__(self, sentence: str) -> None:
        super().__init__(" ".join(printable(shorten(sentence)).splitlines()))

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownWordError(MalmoiError, KeyError):
    """A word has no vector: it is not in the vocabulary and none of its n-grams is known.

    `word` is the word, `suggestions` are known words with a similar spelling. The message names
    `where` the word is missing and, if that helps, `because` of what.
    """

    def __init__(
        self,
        word: str,
        suggestions: Sequence[str] = (),
        *,
        where: str = "the vectors",
        because: str = "",
    ) -> None:
        self.word = word
        self.suggestions = tuple(suggestions)
        where += f", {because}" if because else ""
        hint = f"; did you mean {', '.join(self.suggestions)}?" if suggestions else ""
        super().__init__(f"'{word}' is not in {where}{hint}")


class InvalidFileError(MalmoiError):
    """A file is missing, damaged, of an unknown format, or cannot be read or written."""


class InvalidArgumentError(MalmoiError, ValueError):
    """An argument is invalid, by itself or in combination with the others."""


class MissingDependencyError(MalmoiError, ImportError):
    """An optional package is not installed; the message has the `pip install` for it."""


class MalmoiWarning(UserWarning):
    """Something was repaired, skipped or lost; the message says how often, with an example."""


def warn(sentence: str) -> None:
    """Issue a `MalmoiWarning` that points at the line outside malmoi which called it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__")):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, MalmoiWarning, stacklevel=level)


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == "malmoi"


def check_encoding(name: str) -> None:
    """Raise `InvalidArgumentError` unless Python knows a text encoding of this name."""
    try:
        codecs.lookup(name)
    except LookupError as error:
        raise InvalidArgumentError(
            f"unknown encoding '{name}': use a name that Python knows, such as utf-8 or cp949"
        ) from error
