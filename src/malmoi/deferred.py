"""Deferred: a frozen dataclass whose large arrays are verified when they are first used.

Checking the checksums of gigabytes would defeat the purpose of mapping a file into memory. So a
value that is read from a large file is made in two steps:

1. The reader builds the value from the arrays as they lie in the file, unverified. Building it
   checks dtypes and shapes, which are in the header, but reads no numbers.
2. `defer(value, {field: array})` removes those fields from the value's `__dict__` and remembers
   where they come from.

The first use of such a field, say `vectors.matrix`, does not find it in `__dict__`; Python then
calls `__getattr__`, which verifies the whole array and stores it in `__dict__`. From then on it is
an ordinary attribute, as fast as any other. `rows_of` reads some rows, and verifies only the blocks
of the file that hold them. Knows nothing about files.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy.typing as npt

UNVERIFIED = "_unverified"  # in `__dict__`: the arrays that are not verified yet, by field
StoredArray = npt.NDArray[Any]


class Unverified(Protocol):
    """An array that has not been read yet; both methods raise `InvalidFileError` on damage."""

    def all(self) -> StoredArray:
        """Verify and return the whole array."""

    def rows(self, rows: Any) -> StoredArray:
        """Return some rows and verify only the bytes that hold them."""


class Deferred:
    """Base class of frozen dataclasses with fields that `defer` may have deferred."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> StoredArray:
            """Verify a deferred field; Python calls this only for what is not in `__dict__`."""
            unverified = self.__dict__.get(UNVERIFIED, {})
            if name not in unverified:
                raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
            array = self.__dict__[name] = unverified[name].all()
            return array

    def __getstate__(self) -> dict[str, object]:
        """The state for copying and pickling: every array, verified."""
        for name in self.__dict__.get(UNVERIFIED, {}):
            getattr(self, name)
        return {name: value for name, value in self.__dict__.items() if name != UNVERIFIED}

    def rows_of(self, name: str, rows: Any) -> StoredArray:
        """Some rows of an array field; while it is deferred, only these rows are verified."""
        array: StoredArray | None = self.__dict__.get(name)
        if array is not None:
            selected: StoredArray = array[rows]
            return selected
        unverified: Mapping[str, Unverified] = self.__dict__[UNVERIFIED]
        return unverified[name].rows(rows)


def defer(value: Deferred, arrays: Mapping[str, Unverified]) -> None:
    """Verify these fields of a value when they are first used, instead of now."""
    for name in arrays:
        if hasattr(type(value), name):
            raise TypeError(f"{name} has a default on its class, which would hide the array")
        value.__dict__.pop(name, None)
    value.__dict__[UNVERIFIED] = {**value.__dict__.get(UNVERIFIED, {}), **arrays}
