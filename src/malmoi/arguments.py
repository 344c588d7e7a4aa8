"""Checks of the kinds of arguments: a message names what was passed and what to pass instead."""

from dataclasses import fields
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, SupportsFloat, SupportsIndex, TypeVar, get_args

from malmoi.errors import InvalidArgumentError, shorten

Settings = TypeVar("Settings")

MAX_QUOTED = 60  # characters of a value in a message


def described(value: object) -> str:
    """What a value is, in a few words for a message."""
    if value is None or isinstance(value, int | float):
        return repr(value)
    if isinstance(value, type):
        return f"the class {value.__name__}: call it to make a value"
    kind = type(value).__name__
    article = "an" if kind[0].lower() in "aeiou" else "a"
    if isinstance(value, str | bytes | PathLike):
        text = value if isinstance(value, str | bytes) else str(value)
        return f"the {'path' if isinstance(value, PathLike) else kind} {_quoted(text)}"
    if is_encoder(value):
        return f"the encoder {_quoted(str(getattr(value, 'name', kind)))}"
    if type(value).__module__.partition(".")[0] == "malmoi":
        return shorten(repr(value).partition("\n")[0], MAX_QUOTED)
    shape = getattr(value, "shape", None)
    return f"{article} {kind} of shape {shape}" if shape is not None else f"{article} {kind}"


def is_encoder(value: object) -> bool:
    """Whether a value has the interface of an encoder; a string has `encode` too."""
    return (
        not isinstance(value, str | type)
        and callable(getattr(value, "encode", None))
        and hasattr(value, "dim")
    )


def expect(value: object, kinds: Any, name: str, expected: str, *, hint: str = "") -> None:
    """Raise `InvalidArgumentError` unless a value is of these kinds.

    `expected` completes "name must be …"; `hint` says what to do with the value instead.
    """
    if not isinstance(value, kinds):
        instead = f"; {hint}" if hint else ""
        raise InvalidArgumentError(f"{name} must be {expected}, not {described(value)}{instead}")


def expect_path(value: object, name: str = "path", *, hint: str = "") -> Path:
    """The path that a string or a path names."""
    expect(value, (str, PathLike), name, "a path", hint=hint)
    assert isinstance(value, str | PathLike)
    return Path(value)


def expect_number(value: object, kind: Any, name: str, expected: str) -> None:
    """Raise `InvalidArgumentError` unless a value is a number of this kind; an array is not."""
    expect(value, () if getattr(value, "ndim", 0) else kind, name, expected)


def expect_integer(value: object, name: str) -> None:
    """Raise `InvalidArgumentError` unless a value is an integer, also one of NumPy."""
    expect_number(value, SupportsIndex, name, "an integer")


def expect_count(value: SupportsIndex, name: str = "k") -> None:
    """Raise `InvalidArgumentError` unless a value is an integer of at least 1."""
    expect_integer(value, name)
    if value.__index__() < 1:
        raise InvalidArgumentError(f"{name} must be at least 1; got {value}")


def settings_or_default(settings: Settings | None, kind: type[Settings]) -> Settings:
    """The settings, or the defaults where there are none."""
    if settings is None:
        return kind()
    hint = f"write {kind.__name__}(…) with the settings as keywords"
    expect(settings, kind, "settings", f"a {kind.__name__}", hint=hint)
    return settings


def check_numbers(settings: Any) -> None:
    """Raise `InvalidArgumentError` if a field of a dataclass is not the number it should be."""
    for field in fields(settings):
        value = getattr(settings, field.name)
        kinds = get_args(field.type) if isinstance(field.type, UnionType) else (field.type,)
        if value is None and NoneType in kinds:
            continue
        if bool in kinds:
            expect_number(value, SupportsIndex, field.name, "true or false")
        elif int in kinds:
            expect_integer(value, field.name)
        elif float in kinds:
            expect_number(value, SupportsFloat, field.name, "a number")


def _quoted(text: str | bytes) -> str:
    return repr(text[:MAX_QUOTED] if len(text) > MAX_QUOTED else text)
