"""Tokenizers: text to a list of tokens, made by name and saved with every model.

Each is a frozen dataclass that is called with a text. The simple ones are here; `korean` and
`wordpiece` have their own files.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, is_dataclass
from importlib import import_module
from typing import Any, ClassVar, NamedTuple, Protocol, cast

from malmoi.arguments import described, expect
from malmoi.errors import InvalidArgumentError
from malmoi.hangul import split_jamo

# A number with its separators, or a word with parts that an apostrophe joins.
ENGLISH = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*|[^\w\s]|_")
CLITIC = re.compile(r"(.+)(n['’]t|['’](?:s|m|d|ll|re|ve))", re.IGNORECASE)


class TokenSpan(NamedTuple):
    """A token, and the characters of the text that it stands for."""

    token: str
    begin: int
    end: int


class Tokenizer(Protocol):
    """Splits a text into tokens, which contain no white space."""

    name: ClassVar[str]

    def __call__(self, text: str) -> list[str]:
        """The tokens of a text, in order."""

    def many(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """The tokens of each text; tokenizers that are faster on batches override this."""
        return map(self, texts)

    def spans(self, text: str) -> list[TokenSpan]:
        """The tokens of a text with their characters; those that change tokens override this."""
        return align(text, self(text))


@dataclass(frozen=True)
class Whitespace(Tokenizer):
    """Splits at white space."""

    name: ClassVar[str] = "whitespace"

    def __call__(self, text: str) -> list[str]:
        """The words between white space."""
        return text.split()


@dataclass(frozen=True)
class English(Tokenizer):
    """Words with their contractions, numbers, and optionally punctuation.

    Args:
        lower: Fold case.
        marks: Return punctuation marks too, each as one token.
        clitics: Split contractions as treebanks do: don't is do and n't, man's is man and 's.
    """

    name: ClassVar[str] = "english"
    lower: bool = True
    marks: bool = False
    clitics: bool = False

    def __call__(self, text: str) -> list[str]:
        """Words, numbers and perhaps marks."""
        tokens = ENGLISH.findall(text.lower() if self.lower else text)
        if not self.marks:
            tokens = [token for token in tokens if token[0].isalnum()]
        return [part for token in tokens for part in _split(token)] if self.clitics else tokens

    def spans(self, text: str) -> list[TokenSpan]:
        """The same with their characters."""
        source = text.lower() if self.lower else text
        if len(source) != len(text):  # a few capitals become two letters
            return align(text, self(text))
        spans = []
        for match in ENGLISH.finditer(source):
            if not self.marks and not match[0][0].isalnum():
                continue
            begin = match.start()
            for part in _split(match[0]) if self.clitics else (match[0],):
                spans.append(TokenSpan(part, begin, begin + len(part)))
                begin += len(part)
        return spans


def _split(token: str) -> tuple[str, ...]:
    """A word and its clitic, written with the plain apostrophe as in pretrained vectors."""
    match = CLITIC.fullmatch(token)
    return (match[1], match[2].replace("’", "'")) if match else (token,)


@dataclass(frozen=True)
class Regex(Tokenizer):
    """The matches of a regular expression.

    Args:
        pattern: The regular expression.

    Raises:
        InvalidArgumentError: The pattern is not a regular expression.
    """

    name: ClassVar[str] = "regex"
    pattern: str = r"\w+"

    def __post_init__(self) -> None:
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise InvalidArgumentError(
                f"'{self.pattern}' is not a regular expression: {error}"
            ) from error

    def __call__(self, text: str) -> list[str]:
        """Every match, without the white space in it."""
        matches = (match[0] for match in re.finditer(self.pattern, text))
        return [token for match in matches if (token := "".join(match.split()))]


@dataclass(frozen=True)
class Syllables(Tokenizer):
    """Every character that is not white space: for Korean, the syllables."""

    name: ClassVar[str] = "syllables"

    def __call__(self, text: str) -> list[str]:
        """The characters."""
        return list("".join(text.split()))


@dataclass(frozen=True)
class Jamo(Tokenizer):
    """Every jamo of Hangul, with ∅ for a missing final; see `malmoi.hangul`."""

    name: ClassVar[str] = "jamo"

    def __call__(self, text: str) -> list[str]:
        """The jamo; other characters unchanged."""
        return list(split_jamo("".join(text.split())))


def align(text: str, tokens: Iterable[str]) -> list[TokenSpan]:
    """Tokens with their characters, found one after the other, whatever their case.

    A token that is not a part of the text, such as a jamo of a syllable, has no characters.
    """
    folded, spans, at = text.lower(), [], 0
    for token in tokens:
        begin = text.find(token, at)
        if begin < 0 and len(folded) == len(text):
            begin = folded.find(token.lower(), at)
        if begin >= 0:
            at = begin + len(token)
        spans.append(TokenSpan(token, at if begin < 0 else begin, at))
    return spans


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
    """Make a tokenizer.

    Args:
        name: whitespace, english, korean, syllables, jamo, wordpiece or regex.
        **options: The fields of that tokenizer.

    Returns:
        The tokenizer.

    Raises:
        InvalidArgumentError: The name is unknown, or the tokenizer does not take an option.
        MissingDependencyError: The package of `korean` or `wordpiece` is not installed.
    """
    expect(name, str, "tokenizer", "the name of a tokenizer")
    if name not in HOMES:
        raise InvalidArgumentError(f"unknown tokenizer '{name}': choose one of {', '.join(HOMES)}")
    module, kind = HOMES[name]
    make = cast(Callable[..., Tokenizer], getattr(import_module(module), kind))
    try:
        return make(**options)
    except TypeError as error:
        raise InvalidArgumentError(
            f"the tokenizer '{name}' does not take these options: {error}"
        ) from error


def describe(tokenizer: Tokenizer) -> str:
    """A JSON description from which `tokenizer_from` makes the same tokenizer again."""
    if not callable(tokenizer) or not is_dataclass(tokenizer) or not hasattr(tokenizer, "name"):
        raise InvalidArgumentError(
            "tokenizer must be the name of a tokenizer, or one that make_tokenizer returns, not"
            f" {described(tokenizer)}"
        )
    return json.dumps({"name": tokenizer.name, **asdict(tokenizer)}, ensure_ascii=False)


def tokenizer_from(description: str) -> Tokenizer:
    """The tokenizer of a description."""
    return make_tokenizer(**json.loads(description))
