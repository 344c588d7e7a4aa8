"""Deferred: a value some of whose arrays lie in a file and are verified when first used.

An array that is deferred is missing from the value's `__dict__` until somebody asks for it: then
it is verified as a whole, put there, and costs nothing any more. Knows nothing of files.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy.typing as npt

UNVERIFIED = "_unverified"
Array = npt.NDArray[Any]


class Unverified(Protocol):
    """An array that was not looked at yet; both methods raise where it is damaged."""

    def all(self) -> Array:
        """All of it, verified."""

    def rows(self, rows: Any) -> Array:
        """These rows, of which alone the bytes are verified."""


class Deferred:
    """A frozen dataclass with arrays that may be deferred."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Array:
            """An array that is deferred; called only for what is not in `__dict__`."""
            waiting = self.__dict__.get(UNVERIFIED, {})
            if name not in waiting:
                raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
            array = self.__dict__[name] = waiting[name].all()
            return array

    def stored(self, name: str) -> Array | None:
        """An array that the file holds although it could be computed, if it does."""
        waiting: Mapping[str, Unverified] = self.__dict__.get(UNVERIFIED, {})
        return waiting[name].all() if name in waiting else None

    def __getstate__(self) -> dict[str, object]:
        """What is copied or sent to another process: every array, verified."""
        for name in self.__dict__.get(UNVERIFIED, {}):
            getattr(self, name)
        return {name: held for name, held in self.__dict__.items() if name != UNVERIFIED}

    def rows_of(self, name: str, rows: Any) -> Array:
        """Some rows of an array; while it is deferred, no others are verified."""
        held: Array | None = self.__dict__.get(name)
        if held is not None:
            found: Array = held[rows]
            return found
        waiting: Mapping[str, Unverified] = self.__dict__[UNVERIFIED]
        return waiting[name].rows(rows)


def is_cached(kind: type, name: str) -> bool:
    """Whether a name is that of something which is computed when it is first asked for."""
    return isinstance(getattr(kind, name), cached_property)


def defer(value: Deferred, arrays: Mapping[str, Unverified]) -> None:
    """Let arrays of a value, which was made of them as they lie there, be verified when used."""
    for name in arrays:
        if hasattr(type(value), name) and not is_cached(type(value), name):
            raise TypeError(f"{name} has a default on its class, which would hide the array")
        value.__dict__.pop(name, None)
    value.__dict__[UNVERIFIED] = {**value.__dict__.get(UNVERIFIED, {}), **arrays}
