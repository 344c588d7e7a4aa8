"""What can go wrong, in few kinds; each message names the value, the place and the fix."""

import codecs
import sys
import warnings
from collections.abc import Sequence


def printable(text: str) -> str:
    """Text that any terminal takes: bytes that never were UTF-8 become \\xNN, halves \\uNNNN."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half a character, which never was bytes
        return text.encode("utf-8", "backslashreplace").decode()


def shortened(sentence: str, most: int = 1000) -> str:
    """A sentence that quotes a long value, without the middle of it; the fix stands at its end."""
    if len(sentence) <= most:
        return sentence
    half = most // 2
    return f"{sentence[:half]} […] {sentence[-half:]}"


class MalmoiError(Exception):
    """Anything malmoi refuses to do, said in one sentence for the person who asked."""

    def __init__(self, sentence: str) -> None:
        super().__init__(" ".join(printable(shortened(sentence)).splitlines()))

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownWordError(MalmoiError, KeyError):
    """A word that the vectors do not hold and cannot build from its parts, or texts do not have."""

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
    """A file that is missing, damaged, unreadable or cannot be written."""


class InvalidArgumentError(MalmoiError, ValueError):
    """An argument that makes no sense, alone or beside the others."""


class MissingDependencyError(MalmoiError, ImportError):
    """A capability whose packages are not installed."""


class MalmoiWarning(UserWarning):
    """Something that was repaired, skipped or lost on the way, counted."""


def warn(sentence: str) -> None:
    """Warn whoever called malmoi, at the line where they did, however deep in here it was seen."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__")):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, MalmoiWarning, stacklevel=level)


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == "malmoi"


def check_encoding(name: str) -> None:
    """Refuse the name of an encoding that Python does not know."""
    try:
        codecs.lookup(name)
    except LookupError as error:
        raise InvalidArgumentError(f"there is no encoding '{name}'") from error
