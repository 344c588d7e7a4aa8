"""Texts as people pass them: lists, generators, Series, NumPy arrays and Arrow columns.

Neither pandas, Polars nor Arrow is imported: their values are recognized by their methods. A text
is a string or a list of its tokens.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from malmoi.errors import InvalidArgumentError

TextLike = str | Sequence[str]  # a text, or the list of its tokens
MAX_SHOWN_CHARACTERS = 40
MAX_SHOWN_COLUMNS = 5


class JoinedTokens(str):
    """The tokens of a list as one text, joined by spaces; it keeps the tokens too."""

    __slots__ = ("tokens",)
    tokens: tuple[str, ...]

    def __new__(cls, tokens: Iterable[str]) -> "JoinedTokens":
        """Join tokens."""
        given = tuple(tokens)
        joined = super().__new__(cls, " ".join(given))
        joined.tokens = given
        return joined

    def __reduce__(self) -> tuple[type, tuple[tuple[str, ...]]]:
        return JoinedTokens, (self.tokens,)


@dataclass(frozen=True)
class TextColumn:
    """Strings of any collection of texts that can be iterated repeatedly."""

    source: Iterable[TextLike]

    def __iter__(self) -> Iterator[str]:
        return strings(self.source)

    @classmethod
    def of(cls, texts: Iterable[TextLike]) -> "TextColumn":
        """The texts; those of a generator are kept in memory."""
        values = iterate(texts)
        return cls(list(strings(values)) if values is texts else texts)


def strings(texts: Iterable[TextLike], what: str = "text") -> Iterator[str]:
    """The texts as strings, one after the other; the tokens of a list are joined by spaces.

    Raises:
        InvalidArgumentError: `texts` is not a collection of texts; or, while they are iterated,
            one of them is not a text.
    """
    values = iterate(texts, f"{what}s")
    return (as_string(value, position, what) for position, value in enumerate(values, 1))


def as_string(value: object, position: int, what: str = "text") -> str:
    """One text as a string; errors name its position from 1."""
    if isinstance(value, str):
        return value
    tokens = as_tokens(value)
    if tokens is not None:
        return JoinedTokens(tokens)
    raise InvalidArgumentError(explain_invalid(value, position, what))


def as_tokens(value: object) -> list[str] | None:
    """The tokens of a list, a NumPy array or a Series of strings; None for all other values."""
    if isinstance(value, str | bytes | tuple):
        return None
    to_list = getattr(value, "tolist", getattr(value, "to_list", None))
    values = to_list() if callable(to_list) else value
    if isinstance(values, list) and all(isinstance(token, str) for token in values):
        return values
    return None


def iterate(values: object, what: str = "texts") -> Iterator[Any]:
    """Iterate a list, a generator or a column; `what` is its name in errors.

    Raises:
        InvalidArgumentError: The value is a single text, a table, a mapping, or not iterable.
    """
    kind = type(values).__name__
    if isinstance(values, str | bytes):
        shown = values[:MAX_SHOWN_CHARACTERS]
        raise InvalidArgumentError(f"{what} is the single string {shown!r}: pass a list of {what}")
    columns = column_names(values)
    if len(columns) == 1 and hasattr(values, "fetchall"):  # a column of DuckDB is a query
        return (value for (value,) in values.fetchall())
    if columns:
        shown_columns = ", ".join(columns[:MAX_SHOWN_COLUMNS])
        raise InvalidArgumentError(
            f"{what} is a {kind} with the columns {shown_columns}: pass one column, such as"
            f" table['{columns[0]}']"
        )
    if isinstance(values, Mapping):
        raise InvalidArgumentError(f"{what} is a {kind}: pass a list, such as list(d.values())")
    if getattr(values, "ndim", 1) != 1:
        shape = " × ".join(map(str, getattr(values, "shape", ()))) or "no dimension"
        raise InvalidArgumentError(f"{what} is a {kind} of {shape}: pass one dimension")
    if hasattr(values, "to_pylist"):  # Arrow, which iterates over scalars of its own
        parts: Iterable[Any] = getattr(values, "chunks", [values])
        return (value for part in parts for value in part.to_pylist())
    if not isinstance(values, Iterable):
        raise InvalidArgumentError(f"{what} is {_shown(values)}: pass a list of {what}")
    return iter(values)


class TableLike(Protocol):
    """A DataFrame of pandas or Polars, an Arrow table, or a data set of Hugging Face."""

    def __getitem__(self, name: str, /) -> Any:
        """A column by its name."""


def column_names(values: object) -> list[str]:
    """The columns of a table of pandas, Polars, Arrow or Hugging Face; none of other values."""
    names = getattr(values, "columns", getattr(values, "column_names", None))
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        return []
    if not hasattr(values, "__getitem__"):  # a value that has columns, but is not a table
        return []
    given = getattr(values, "column_names", names)  # Arrow's `columns` are the columns themselves
    return [str(name) for name in given] or ["none"]


def explain_invalid(value: object, position: int, what: str = "text") -> str:
    """The sentence about a value that is not a text."""
    if is_missing(value):
        return (
            f"{what} number {position} is missing ({value}): leave it out, as dropna() and"
            " drop_nulls() do, or pass an empty string"
        )
    if isinstance(value, bytes):
        return f"{what} number {position} is bytes: decode it, as value.decode('utf-8')"
    return f"{what} number {position} is {_shown(value)}: pass a string, or a list of tokens"


def is_missing(value: object) -> bool:
    """Whether a value stands for a missing one: None, NaN, or NA of pandas."""
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def _shown(value: object) -> str:
    shown = repr(value)
    short = shown if len(shown) <= MAX_SHOWN_CHARACTERS else f"{shown[:MAX_SHOWN_CHARACTERS]} …"
    return f"{short} ({type(value).__name__})"
