"""Checks of a kernel's arguments, made once per call where Python enters it.

Inside a kernel nothing is checked: an index out of bounds reads or writes foreign memory.
`checked` states the types, shapes and ranges of a kernel's arguments beside it:

    @checked(rows=ArrayOf(np.int32, "entries", below="inputs"), ...)

Axes with the same name must have the same size.
"""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from malmoi.kernels.marks import UNKNOWN

Kernel = TypeVar("Kernel", bound=Callable[..., object])
Sizes = dict[str, int]


class ArrayOf:
    """A C-contiguous array of one of some types; each axis has a size, or a name for its size.

    Its values are at least `minimum` and `below` a size, or `up_to` one. With `marks`, ids may
    include UNKNOWN and LINE_END.
    """

    def __init__(
        self,
        dtypes: npt.DTypeLike | tuple[npt.DTypeLike, ...],
        *axes: str | int,
        below: str = "",
        up_to: str = "",
        minimum: int = 0,
        marks: bool = False,
    ) -> None:
        several = dtypes if isinstance(dtypes, tuple) else (dtypes,)
        self.dtypes, self.axes = tuple(np.dtype(each) for each in several), axes
        self.limit, self.extra = below or up_to, int(bool(up_to))
        self.minimum, self.marks = minimum, marks

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Check type and shape, and record the sizes of named axes."""
        if not isinstance(value, np.ndarray) or value.dtype not in self.dtypes:
            raise self._mismatch(name, value, sizes)
        if value.ndim != len(self.axes) or not value.flags.c_contiguous:
            raise self._mismatch(name, value, sizes)
        for axis, size in zip(self.axes, value.shape, strict=True):
            expected = axis if isinstance(axis, int) else sizes.setdefault(axis, size)
            if size != expected:
                raise self._mismatch(name, value, sizes)

    def check_range(self, name: str, value: npt.NDArray[Any], sizes: Sizes) -> None:
        """Check that the values are in range."""
        if self.limit and self.marks:
            require_ids(name, value, sizes[self.limit])
        elif self.limit:
            require_range(name, value, self.minimum, sizes[self.limit] + self.extra)

    def _mismatch(self, name: str, value: Any, sizes: Sizes) -> ValueError:
        expected = [
            str(sizes.get(axis, axis) if isinstance(axis, str) else axis) for axis in self.axes
        ]
        types = " or ".join(dtype.name for dtype in self.dtypes)
        return ValueError(
            f"{name} is {describe(value)}, not contiguous {types} [{', '.join(expected)}]"
        )


class Offsets(ArrayOf):
    """Row offsets as in a CSR matrix: where each row begins, and the last one ends: [rows + 1]."""

    def __init__(self, rows: str, into: str) -> None:
        super().__init__(np.int64, f"{rows} + 1")
        self.rows, self.into = rows, into

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Check type and shape; there is at least one offset."""
        super().check(name, value, sizes)
        if not len(value) or sizes.setdefault(self.rows, len(value) - 1) != len(value) - 1:
            raise self._mismatch(name, value, sizes)

    def check_range(self, name: str, value: npt.NDArray[Any], sizes: Sizes) -> None:
        """Check that offsets ascend and stay within the entries."""
        require_offsets(name, value, sizes[self.into])


class Within(NamedTuple):
    """An integer from 0 up to a size."""

    size: str

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Sizes are not known yet."""

    def check_range(self, name: str, value: Any, sizes: Sizes) -> None:
        """Check that the integer is in range."""
        if not 0 <= value <= sizes[self.size]:
            raise ValueError(f"{name} is {value}, not from 0 to {sizes[self.size]}")


def checked(
    *others: Callable[..., None], **arguments: ArrayOf | Within
) -> Callable[[Kernel], Kernel]:
    """Check these arguments whenever Python calls the kernel, then run `others` on all of them."""

    def decorate(kernel: Kernel) -> Kernel:
        function = cast(Any, kernel).py_func
        parameters = list(inspect.signature(function).parameters)
        rules = [(parameters.index(name), name, rule) for name, rule in arguments.items()]

        @wraps(function)
        def enter(*values: Any) -> object:
            sizes: Sizes = {}
            try:
                for i, name, rule in rules:
                    rule.check(name, values[i], sizes)
                for i, name, rule in rules:
                    rule.check_range(name, values[i], sizes)
                for check in others:
                    check(*values)
            except ValueError as error:
                raise ValueError(f"{function.__name__}: {error}") from None
            return kernel(*values)

        return cast(Kernel, enter)

    return decorate


def check_each(checks: Iterable[tuple[str, Any, ArrayOf]], sizes: Sizes) -> None:
    """Check named arrays: shapes first, since ranges depend on them."""
    checks = list(checks)
    for name, value, rule in checks:
        rule.check(name, value, sizes)
    for name, value, rule in checks:
        rule.check_range(name, value, sizes)


def require(holds: bool, sentence: str) -> None:
    """Raise ValueError with this sentence unless a condition holds."""
    if not holds:
        raise ValueError(sentence)


def require_range(name: str, values: npt.NDArray[Any], minimum: int, stop: int) -> None:
    """Raise ValueError unless all values are from `minimum` to below `stop`."""
    if values.size and (values.min() < minimum or values.max() >= stop):
        low, high = int(values.min()), int(values.max())
        raise ValueError(
            f"{name} has values from {low} to {high}, not from {minimum} to {stop - 1}"
        )


def require_ids(name: str, ids: npt.NDArray[np.uint32], words: int) -> None:
    """Raise ValueError for ids beyond the vocabulary; UNKNOWN and LINE_END are allowed."""
    if words > UNKNOWN:
        raise ValueError(f"there are {words} words, more than {UNKNOWN}")
    # Unsigned numbers wrap around: ids below `words` become larger than marks.
    wrong = (ids - np.uint32(words)) < np.uint32(UNKNOWN - words)
    if wrong.any():
        i = int(wrong.argmax())
        raise ValueError(f"{name} has {int(ids[i])} at {i}, an id beyond the {words} words")


def require_offsets(name: str, offsets: npt.NDArray[np.int64], entries: int) -> None:
    """Check that offsets ascend and stay within the entries."""
    if offsets[0] < 0 or offsets[-1] > entries or np.any(offsets[1:] < offsets[:-1]):
        raise ValueError(f"{name} does not rise from 0 to at most {entries}")


def describe(value: object) -> str:
    """An argument as error messages name it."""
    if not isinstance(value, np.ndarray):
        return f"a {type(value).__name__}"
    layout = "" if value.flags.c_contiguous else "strided "
    return f"{layout}{value.dtype.name} {list(value.shape)}"
