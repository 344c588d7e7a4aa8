"""Which hidden states are meant: by number, by range, or all of them.

State 0 is what goes into the first layer, state n what comes out of layer n; -1 is the last.
"""

from collections.abc import Iterable, Sequence
from operator import index

from malmoi.errors import InvalidArgumentError

Layers = int | str | Sequence[int]  # -2, "-4:", "0,3,6", "all", [-2, -1]
WANTED = "give a number (-2), several (0,3,6), a range (-4:) or all"
DIGITS = 18  # more than any layer's number has, and fewer than Python refuses to read


def choose_layers(asked: Layers, count: int) -> tuple[int, ...]:
    """The states asked for, numbered from 0, of a model that has `count` of them."""
    if isinstance(asked, str):
        return _written(asked, count)
    try:
        numbers = [index(number) for number in (asked if isinstance(asked, Iterable) else [asked])]
    except TypeError as error:
        raise InvalidArgumentError(f"{asked!r} names no layers: {WANTED}") from error
    if not numbers:
        raise InvalidArgumentError("no layer was asked for: name one, such as -1, or 'all'")
    if len(numbers) > count:
        raise InvalidArgumentError(
            f"{len(numbers):,} layers are asked for: there are {_numbers(count)}"
        )
    return tuple(_from_zero(number, count) for number in numbers)


def _written(asked: str, count: int) -> tuple[int, ...]:
    if asked.strip() == "all":
        return tuple(range(count))
    first, colon, end = asked.partition(":")
    if colon:
        chosen = tuple(range(count)[_bound(first, asked) : _bound(end, asked)])
        if not chosen:
            raise InvalidArgumentError(
                f"the layers '{asked}' are none: there are {_numbers(count)}"
            )
        return chosen
    return choose_layers([_number(one, asked) for one in asked.split(",")], count)


def _bound(text: str, asked: str) -> int | None:
    return _number(text, asked) if text.strip() else None


def _number(text: str, asked: str) -> int:
    digits = text.strip().removeprefix("-")
    if not (digits.isdecimal() and len(digits) <= DIGITS):
        raise InvalidArgumentError(f"'{asked}' names no layers: {WANTED}")
    return int(text)


def _from_zero(number: int, count: int) -> int:
    if not -count <= number < count:
        raise InvalidArgumentError(f"there is no layer {number}: there are {_numbers(count)}")
    return number % count


def _numbers(count: int) -> str:
    return f"{count}, from 0 (what goes into the first) to {count - 1}, or -{count} to -1"
