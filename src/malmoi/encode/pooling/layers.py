"""Selects hidden states: by number, by range, or all of them.

State 0 is the embeddings, the input of the first layer; state n is the output of layer n; -1 is
the last.
"""

from collections.abc import Iterable, Sequence
from operator import index

from malmoi.errors import InvalidArgumentError

Layers = int | str | Sequence[int]  # -2, "-4:", "0,3,6", "all", [-2, -1]
LAYERS_HINT = "pass a number (-2), several (0,3,6), a range (-4:) or all"
MAX_DIGITS = 18  # of a layer's number; Python refuses to parse very long ones


def choose_layers(layers: Layers, num_states: int) -> tuple[int, ...]:
    """The numbers from 0 of the chosen states of a model that has `num_states`.

    Raises:
        InvalidArgumentError: There is no such layer, or `layers` is none at all.
    """
    if isinstance(layers, str):
        return _parse(layers, num_states)
    try:
        several = layers if isinstance(layers, Iterable) else [layers]
        numbers = [index(number) for number in several]
    except TypeError as error:
        raise InvalidArgumentError(
            f"{layers!r} is not a choice of layers: {LAYERS_HINT}"
        ) from error
    if not numbers:
        raise InvalidArgumentError("layers is empty: name one, such as -1, or 'all'")
    if len(numbers) > num_states:
        raise InvalidArgumentError(
            f"layers has {len(numbers):,} entries, but there are {_range(num_states)}"
        )
    return tuple(_from_zero(number, num_states) for number in numbers)


def _parse(layers: str, num_states: int) -> tuple[int, ...]:
    if layers.strip() == "all":
        return tuple(range(num_states))
    first, colon, end = layers.partition(":")
    if colon:
        chosen = tuple(range(num_states)[_bound(first, layers) : _bound(end, layers)])
        if not chosen:
            raise InvalidArgumentError(
                f"layers '{layers}' selects none: there are {_range(num_states)}"
            )
        return chosen
    return choose_layers([_number(part, layers) for part in layers.split(",")], num_states)


def _bound(text: str, layers: str) -> int | None:
    return _number(text, layers) if text.strip() else None


def _number(text: str, layers: str) -> int:
    digits = text.strip().removeprefix("-")
    if not (digits.isdecimal() and len(digits) <= MAX_DIGITS):
        raise InvalidArgumentError(f"'{layers}' is not a choice of layers: {LAYERS_HINT}")
    return int(text)


def _from_zero(number: int, num_states: int) -> int:
    if not -num_states <= number < num_states:
        raise InvalidArgumentError(f"there is no layer {number}: there are {_range(num_states)}")
    return number % num_states


def _range(num_states: int) -> str:
    last = num_states - 1
    return f"{num_states}, from 0 (the embeddings) to {last}, or from -{num_states} to -1"
