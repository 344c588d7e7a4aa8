"""Which hidden states are meant: by number, by range, or all of them.

State 0 is what goes into the first layer, state n what comes out of layer n; -1 is the last.
"""

import re
from collections.abc import Iterable, Sequence
from operator import index

from malmoi.errors import BadSetting

Layers = int | str | Sequence[int]  # -2, "-4:", "0,3,6", "all", [-2, -1]
WANTED = "give a number (-2), several (0,3,6), a range (-4:) or all"
RANGE = re.compile(r"\s*(-?\d+)?\s*:\s*(-?\d+)?\s*")


def choose_layers(asked: Layers, count: int) -> tuple[int, ...]:
    """The states asked for, numbered from 0, of a model that has `count` of them."""
    if isinstance(asked, str):
        return _written(asked, count)
    try:
        numbers = [index(number) for number in (asked if isinstance(asked, Iterable) else [asked])]
    except TypeError as error:
        raise BadSetting(f"{asked!r} names no layers: {WANTED}") from error
    if not numbers:
        raise BadSetting("no layer was asked for: name one, such as -1, or 'all'")
    return tuple(_from_zero(number, count) for number in numbers)


def _written(asked: str, count: int) -> tuple[int, ...]:
    if asked.strip() == "all":
        return tuple(range(count))
    if found := RANGE.fullmatch(asked):
        first, end = (None if number is None else int(number) for number in found.groups())
        chosen = tuple(range(count)[first:end])
        if not chosen:
            raise BadSetting(f"the layers '{asked}' are none: there are {_numbers(count)}")
        return chosen
    try:
        numbers = [int(number) for number in asked.split(",")]
    except ValueError as error:
        raise BadSetting(f"'{asked}' names no layers: {WANTED}") from error
    return choose_layers(numbers, count)


def _from_zero(number: int, count: int) -> int:
    if not -count <= number < count:
        raise BadSetting(f"there is no layer {number}: there are {_numbers(count)}")
    return number % count


def _numbers(count: int) -> str:
    return f"{count}, from 0 (what goes into the first) to {count - 1}, or -{count} to -1"
