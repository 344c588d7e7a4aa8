"""Decimal numbers in bytes: parses and formats one number.

For up to 15 digits and exponents of ±22 (all numbers in practice), parsing gives the nearest
double, which is then rounded to float32. Formatting writes at most nine digits, and no more than a
reader needs to restore the same float32.
"""

import math

import numpy as np

from malmoi.arrays import UInt8Array
from malmoi.kernels.core.jit import jit, jit_inline

POWERS = np.array([float(f"1e{n}") for n in range(64)])
NOT_A_NUMBER = -1
NAN = np.frombuffer(b"nan", dtype=np.uint8)
INFINITY = np.frombuffer(b"infinity", dtype=np.uint8)


@jit_inline
def digit_at(text: UInt8Array, at: int) -> int:
    return int(np.int64(text[at]) - ord("0"))


@jit
def parse_number(text: UInt8Array, at: int, stop: int) -> tuple[float, int]:
    """The number at `text[at:stop]` and the position after it; -1 if there is none."""
    negative = at < stop and text[at] == ord("-")
    if at < stop and (text[at] == ord("-") or text[at] == ord("+")):
        at += 1
    begin = at
    digits = np.int64(0)
    while at < stop and 0 <= digit_at(text, at) <= 9:
        digits = digits * 10 + digit_at(text, at)
        at += 1
    length = at - begin
    exponent = 0
    if at < stop and text[at] == ord("."):
        at += 1
        point = at
        while at < stop and 0 <= digit_at(text, at) <= 9:
            digits = digits * 10 + digit_at(text, at)
            at += 1
        exponent = point - at
        length -= exponent
    if length == 0:
        return not_finite(text, begin, stop, negative)
    value = float(digits)
    if length > 18:  # more than fit into 63 bits
        value, exponent = parse_long(text, begin, at)
    if at < stop and (text[at] | 32) == ord("e"):
        power, at = parse_exponent(text, at + 1, stop)
        if at < 0:
            return 0.0, NOT_A_NUMBER
        exponent += power
    value = scaled(value, exponent)
    return (-value if negative else value), at


@jit
def parse_long(text: UInt8Array, at: int, stop: int) -> tuple[float, int]:
    """The first 18 significant digits of a long number, and the power of ten to scale them by."""
    digits = np.int64(0)
    significant = 0
    exponent = 0
    after_point = 0  # 1 after the decimal point
    while at < stop:
        if text[at] == ord("."):
            after_point = 1
        elif significant < 18:
            digits = digits * 10 + digit_at(text, at)
            significant += int(digits > 0)
            exponent -= after_point
        else:
            exponent += 1 - after_point
        at += 1
    return float(digits), exponent


@jit
def parse_exponent(text: UInt8Array, at: int, stop: int) -> tuple[int, int]:
    negative = at < stop and text[at] == ord("-")
    if at < stop and (text[at] == ord("-") or text[at] == ord("+")):
        at += 1
    begin = at
    power = 0
    while at < stop and 0 <= digit_at(text, at) <= 9:
        power = min(power * 10 + digit_at(text, at), 9999)
        at += 1
    if at == begin:
        return 0, NOT_A_NUMBER
    return (-power if negative else power), at


@jit
def not_finite(text: UInt8Array, at: int, stop: int, negative: bool) -> tuple[float, int]:
    """`nan`, `inf`, `infinity` and `nan(...)`, in any case."""
    size = matching_letters(text, at, stop, NAN)
    if size == 3 and at + 3 < stop and text[at + 3] == ord("("):
        while at + size < stop and text[at + size - 1] != ord(")"):
            size += 1
        return np.nan, at + size
    if size == 3:
        return np.nan, at + 3
    size = matching_letters(text, at, stop, INFINITY)
    if size == 3 or size == len(INFINITY):
        return (-np.inf if negative else np.inf), at + size
    return 0.0, NOT_A_NUMBER


@jit
def matching_letters(text: UInt8Array, at: int, stop: int, word: UInt8Array) -> int:
    """How many letters match the beginning of `word`, ignoring case."""
    size = 0
    while size < len(word) and at + size < stop and text[at + size] | 32 == word[size]:
        size += 1
    return size


@jit_inline
def scaled(value: float, exponent: int) -> float:
    """value * 10**exponent; rounded once if the power is exact (up to 22)."""
    if exponent == 0 or value == 0.0:
        return value
    if -22 <= exponent < 0:
        return value / float(POWERS[-exponent])
    if 0 < exponent <= 22:
        return value * float(POWERS[exponent])
    if exponent < -300:  # in two steps: 10**-330 alone would be zero
        return value * 10.0**-300 * 10.0 ** (exponent + 300)
    return value * 10.0**exponent


@jit
def format_number(value: np.float32, out: UInt8Array, at: int) -> int:
    """Write a finite float32 as text of at most 16 bytes; returns the position after it."""
    number = np.float64(value)
    if np.signbit(value):
        out[at] = ord("-")
        at += 1
        number = -number
    if number == 0.0:
        out[at] = ord("0")
        return at + 1
    exponent = int(np.floor(np.log10(number)))
    fraction, power = math.frexp(number)
    # Slightly less than half a float32 step (a quarter below a power of two), so that every
    # reader rounds back to `value`.
    tolerance = math.ldexp(0.499 if fraction > 0.5 else 0.249, power - 24)
    precision = 6 if -20 < exponent < 20 else 9
    digits = 0.0
    while True:
        shift = precision - 1 - exponent
        digits = np.rint(number * POWERS[shift] if shift >= 0 else number / POWERS[-shift])
        nearest = digits / POWERS[shift] if shift >= 0 else digits * POWERS[-shift]
        if precision == 9 or abs(nearest - number) < tolerance:
            break
        precision += 1
    whole = int(digits)
    if whole >= int(POWERS[precision]):  # 9.9999999 became 10
        whole //= 10
        exponent += 1
    while whole % 10 == 0:
        whole //= 10
        precision -= 1
    return write_digits(whole, precision, exponent, out, at)


@jit
def write_digits(whole: int, precision: int, exponent: int, out: UInt8Array, at: int) -> int:
    """Write d.ddd * 10**exponent with `precision` digits; without exponent if that is short."""
    plain = -5 <= exponent < 7
    leading = -exponent if plain and exponent < 0 else 0  # zeros before the first digit
    point = exponent + 1 if plain and exponent >= 0 else 1  # digits before the point
    trailing = max(0, point - precision) if plain else 0  # zeros up to the point
    for i in range(leading):
        out[at] = ord("0")
        at += 1
        if i == 0:
            out[at] = ord(".")
            at += 1
    divisor = int(POWERS[precision - 1])
    for i in range(precision):
        if leading == 0 and i == point:
            out[at] = ord(".")
            at += 1
        out[at] = ord("0") + whole // divisor % 10
        at += 1
        divisor //= 10
    for _ in range(trailing):
        out[at] = ord("0")
        at += 1
    return at if plain else write_exponent(exponent, out, at)


@jit
def write_exponent(exponent: int, out: UInt8Array, at: int) -> int:
    out[at] = ord("e")
    out[at + 1] = ord("-") if exponent < 0 else ord("+")
    out[at + 2] = ord("0") + abs(exponent) // 10
    out[at + 3] = ord("0") + abs(exponent) % 10
    return at + 4
