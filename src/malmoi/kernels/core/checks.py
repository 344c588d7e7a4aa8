"""What a kernel requires of its arguments, checked once per call where Python enters it.

Inside, nothing is checked: an index that is too large would read or write whatever memory is
there. `checked` states the types, shapes and ranges of a kernel's arguments beside it:

    @checked(rows=ArrayOf(np.int32, "entries", below="inputs"), ...)

A size that is named twice must be the same both times.
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
    """A C-contiguous array of one of some types; an axis has a size, or a name for its size.

    Its values are from `least` on `below` a size, or `up_to` one; `marks` may stand among ids.
    """

    def __init__(
        self,
        dtypes: npt.DTypeLike | tuple[npt.DTypeLike, ...],
        *axes: str | int,
        below: str = "",
        up_to: str = "",
        least: int = 0,
        marks: bool = False,
    ) -> None:
        several = dtypes if isinstance(dtypes, tuple) else (dtypes,)
        self.dtypes, self.axes = tuple(np.dtype(each) for each in several), axes
        self.limit, self.more, self.least, self.marks = (
            below or up_to,
            int(bool(up_to)),
            least,
            marks,
        )

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse another type or shape; sizes without a value yet get theirs."""
        if not isinstance(value, np.ndarray) or value.dtype not in self.dtypes:
            raise self._misfit(name, value, sizes)
        if value.ndim != len(self.axes) or not value.flags.c_contiguous:
            raise self._misfit(name, value, sizes)
        for axis, size in zip(self.axes, value.shape, strict=True):
            expected = axis if isinstance(axis, int) else sizes.setdefault(axis, size)
            if size != expected:
                raise self._misfit(name, value, sizes)

    def check_range(self, name: str, value: npt.NDArray[Any], sizes: Sizes) -> None:
        """Refuse values that are out of range."""
        if self.limit and self.marks:
            require_ids(name, value, sizes[self.limit])
        elif self.limit:
            require_range(name, value, self.least, sizes[self.limit] + self.more)

    def _misfit(self, name: str, value: Any, sizes: Sizes) -> ValueError:
        expected = [
            str(sizes.get(axis, axis) if isinstance(axis, str) else axis) for axis in self.axes
        ]
        types = " or ".join(dtype.name for dtype in self.dtypes)
        return ValueError(
            f"{name} is {described(value)}, not contiguous {types} [{', '.join(expected)}]"
        )


class Offsets(ArrayOf):
    """Where each of some rows begins among entries, and the last one ends: [rows + 1]."""

    def __init__(self, rows: str, into: str) -> None:
        super().__init__(np.int64, f"{rows} + 1")
        self.rows, self.into = rows, into

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse another type or shape, and offsets of no row."""
        super().check(name, value, sizes)
        if not len(value) or sizes.setdefault(self.rows, len(value) - 1) != len(value) - 1:
            raise self._misfit(name, value, sizes)

    def check_range(self, name: str, value: npt.NDArray[Any], sizes: Sizes) -> None:
        """Refuse offsets that fall, or that leave the entries."""
        require_offsets(name, value, sizes[self.into])


class Within(NamedTuple):
    """A number from 0 up to a size."""

    size: str

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Nothing is known of sizes yet."""

    def check_range(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse a number that is out of range."""
        if not 0 <= value <= sizes[self.size]:
            raise ValueError(f"{name} is {value}, not from 0 to {sizes[self.size]}")


def checked(
    *others: Callable[..., None], **arguments: ArrayOf | Within
) -> Callable[[Kernel], Kernel]:
    """Check these arguments whenever Python calls the kernel, then with `others` all of them."""

    def decorate(kernel: Kernel) -> Kernel:
        function = cast(Any, kernel).py_func
        places = list(inspect.signature(function).parameters)
        rules = [(places.index(name), name, rule) for name, rule in arguments.items()]

        @wraps(function)
        def enter(*given: Any) -> object:
            sizes: Sizes = {}
            try:
                for place, name, rule in rules:
                    rule.check(name, given[place], sizes)
                for place, name, rule in rules:
                    rule.check_range(name, given[place], sizes)
                for check in others:
                    check(*given)
            except ValueError as error:
                raise ValueError(f"{function.__name__}: {error}") from None
            return kernel(*given)

        return cast(Kernel, enter)

    return decorate


def check_each(checks: Iterable[tuple[str, Any, ArrayOf]], sizes: Sizes) -> None:
    """Check arrays by their names: shapes first, since ranges depend on them."""
    checks = list(checks)
    for name, value, rule in checks:
        rule.check(name, value, sizes)
    for name, value, rule in checks:
        rule.check_range(name, value, sizes)


def require(holds: bool, sentence: str) -> None:
    """Refuse arguments that do not fit each other."""
    if not holds:
        raise ValueError(sentence)


def require_range(name: str, values: npt.NDArray[Any], least: int, stop: int) -> None:
    """Refuse values that are not from `least` to below `stop`."""
    if values.size and (values.min() < least or values.max() >= stop):
        low, high = int(values.min()), int(values.max())
        raise ValueError(f"{name} has values from {low} to {high}, not from {least} to {stop - 1}")


def require_ids(name: str, ids: npt.NDArray[np.uint32], words: int) -> None:
    """Refuse ids of no word; marks (UNKNOWN and LINE_END, the two largest) may be among them."""
    if words > UNKNOWN:
        raise ValueError(f"there are {words} words, more than {UNKNOWN}")
    # Unsigned numbers wrap around: ids below `words` become larger than marks.
    wrong = (ids - np.uint32(words)) < np.uint32(UNKNOWN - words)
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(f"{name} has {int(ids[at])} at {at}, an id beyond the {words} words")


def require_offsets(name: str, offsets: npt.NDArray[np.int64], entries: int) -> None:
    """Refuse offsets that fall, or that leave the entries."""
    if offsets[0] < 0 or offsets[-1] > entries or np.any(offsets[1:] < offsets[:-1]):
        raise ValueError(f"{name} does not rise from 0 to at most {entries}")


def described(value: object) -> str:
    """An argument as an error names it."""
    if not isinstance(value, np.ndarray):
        return f"a {type(value).__name__}"
    layout = "" if value.flags.c_contiguous else "strided "
    return f"{layout}{value.dtype.name} {list(value.shape)}"
