"""Tokenizers: text to a list of tokens, chosen by name, saved with every model.

Each is a frozen value that is called with a text. Those of one idea stand here; `korean` and
`wordpiece` have files of their own.
"""

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any, ClassVar, Protocol, cast

from malmoi.errors import InvalidArgumentError
from malmoi.hangul import split_jamo

# A number with its separators, or a word with what an apostrophe joins to it.
ENGLISH = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*|[^\w\s]|_")
CLITIC = re.compile(r"(.+)(n['’]t|['’](?:s|m|d|ll|re|ve))", re.IGNORECASE)


class Tokenizer(Protocol):
    """Text to tokens. Tokens hold no white space."""

    name: ClassVar[str]

    def __call__(self, text: str) -> list[str]:
        """The tokens of a text, in order."""


@dataclass(frozen=True)
class Whitespace:
    """What stands between white space."""

    name: ClassVar[str] = "whitespace"

    def __call__(self, text: str) -> list[str]:
        """Split."""
        return text.split()


@dataclass(frozen=True)
class English:
    """Words with their contractions, numbers, and marks one by one (or none of these).

    `clitics` takes contractions apart as treebanks do: don't is do and n't, man's man and 's.
    """

    name: ClassVar[str] = "english"
    lower: bool = True
    marks: bool = False
    clitics: bool = False

    def __call__(self, text: str) -> list[str]:
        """Words, numbers and perhaps marks."""
        found = ENGLISH.findall(text.lower() if self.lower else text)
        if not self.marks:
            found = [token for token in found if token[0].isalnum()]
        return [part for token in found for part in _parts(token)] if self.clitics else found


def _parts(token: str) -> tuple[str, ...]:
    """A word and what is joined to it, with the plain apostrophe that vectors have."""
    found = CLITIC.fullmatch(token)
    return (found[1], found[2].replace("’", "'")) if found else (token,)


@dataclass(frozen=True)
class Regex:
    """What a pattern finds."""

    name: ClassVar[str] = "regex"
    pattern: str = r"\w+"

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise InvalidArgumentError(f"'{self.pattern}' is no pattern: {error}") from error

    def __call__(self, text: str) -> list[str]:
        """Every match, white space in it dropped."""
        found = (match[0] for match in re.finditer(self.pattern, text))
        return [token for match in found if (token := "".join(match.split()))]


@dataclass(frozen=True)
class Syllables:
    """Every character that is not white space: for Korean, the syllables."""

    name: ClassVar[str] = "syllables"

    def __call__(self, text: str) -> list[str]:
        """The characters."""
        return list("".join(text.split()))


@dataclass(frozen=True)
class Jamo:
    """Every letter of Hangul, with a mark for a final that is not there; see `jamo`."""

    name: ClassVar[str] = "jamo"

    def __call__(self, text: str) -> list[str]:
        """The letters; other characters as they are."""
        return list(split_jamo("".join(text.split())))


HOMES = {
    "whitespace": (__name__, "Whitespace"),
    "english": (__name__, "English"),
    "regex": (__name__, "Regex"),
    "syllables": (__name__, "Syllables"),
    "jamo": (__name__, "Jamo"),
    "korean": ("malmoi.text.korean", "Korean"),
    "wordpiece": ("malmoi.text.wordpiece", "WordPiece"),
}


def make_tokenizer(name: str, **options: Any) -> Tokenizer:
    """A tokenizer by its name."""
    if name not in HOMES:
        raise InvalidArgumentError(
            f"there is no tokenizer '{name}': choose one of {', '.join(HOMES)}"
        )
    module, kind = HOMES[name]
    make = cast(Callable[..., Tokenizer], getattr(import_module(module), kind))
    try:
        return make(**options)
    except TypeError as error:
        raise InvalidArgumentError(
            f"the tokenizer '{name}' does not take these options: {error}"
        ) from error


def describe(tokenizer: Tokenizer) -> str:
    """All it takes to make the same tokenizer again, as JSON."""
    return json.dumps({"name": tokenizer.name, **asdict(tokenizer)}, ensure_ascii=False)  # type: ignore[call-overload]


def tokenizer_from(description: str) -> Tokenizer:
    """The tokenizer that was described."""
    return make_tokenizer(**json.loads(description))
