"""What a pickle holds, without its classes: names, and objects that are records of their pickle.

Nothing here is callable and nothing is imported by a name of the file. Arrays are built by hand
from their bytes, because NumPy's own `__setstate__` trusts what it is given.
"""

import re
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.errors import InvalidFileError

NUMBERS = re.compile(r"[fiub][1248]")  # NumPy's names of dtypes with plain numbers
MAX_DIMENSIONS = 2


class GlobalName(NamedTuple):
    """A class or function that a pickle names."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(slots=True, eq=False)
class StoredObject:
    """An object of a pickle: its class, the arguments and the state it would be built from."""

    kind: GlobalName
    args: Any = ()
    state: Any = None
    items: dict[Any, Any] | None = None

    def attributes(self) -> dict[str, Any]:
        """The attributes of an object of Python."""
        state = self.state[0] if isinstance(self.state, tuple) and self.state else self.state
        return state if isinstance(state, dict) else {}


def as_array(value: object, what: str) -> npt.NDArray[Any]:
    """The array of numbers that a pickle describes; raises `InvalidFileError` for another value."""
    if not isinstance(value, StoredObject) or not value.kind.module.startswith("numpy"):
        raise InvalidFileError(f"its {what} is not an array")
    if value.kind.name == "_reconstruct" and isinstance(value.state, tuple):
        _, shape, dtype, is_fortran, content = (*value.state, None, None, None, None, None)[:5]
    elif value.kind.name == "_frombuffer" and len(value.args) == 4:  # protocol 5
        content, dtype, shape, order = value.args
        is_fortran = order == "F"
    else:
        raise InvalidFileError(f"its {what} is not an array")
    numbers = as_dtype(dtype, what)
    if not is_shape(shape):
        raise InvalidFileError(f"its {what} is neither a vector nor a matrix")
    raw = as_bytes(content, what)
    if prod(shape) * numbers.itemsize != len(raw):
        raise InvalidFileError(f"its {what} has {len(raw):,} bytes, which do not fit its shape")
    array = np.frombuffer(raw, numbers)
    return array.reshape(shape, order="F" if is_fortran else "C")


def as_dtype(value: object, what: str) -> np.dtype[Any]:
    """A dtype of plain numbers."""
    if isinstance(value, StoredObject) and value.kind == ("numpy", "dtype") and value.args:
        name, state = value.args[0], value.state
        order = state[1] if isinstance(state, tuple) and len(state) > 1 else "<"
        if isinstance(name, str) and NUMBERS.fullmatch(name) and order in ("<", ">", "|", "="):
            return np.dtype(("<" if order == "=" else order) + name)
    raise InvalidFileError(f"its {what} is an array of something other than numbers")


def is_shape(value: object) -> bool:
    """Whether a value can be the shape of a vector or a matrix."""
    return (
        isinstance(value, tuple)
        and 1 <= len(value) <= MAX_DIMENSIONS
        and all(type(size) is int and 0 <= size < 1 << 48 for size in value)
    )


def as_bytes(value: object, what: str) -> bytes | memoryview:
    """The bytes of an array; Python 2, and protocol 2 of Python 3, store them as text."""
    if isinstance(value, StoredObject) and value.kind == ("_codecs", "encode") and value.args:
        value = value.args[0]
    if isinstance(value, str):
        try:
            return value.encode("latin-1")
        except UnicodeEncodeError:
            raise InvalidFileError(f"its {what} holds text that is not bytes") from None
    if isinstance(value, bytes | memoryview):
        return value
    raise InvalidFileError(f"its {what} is an array of something other than numbers")
