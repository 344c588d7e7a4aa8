"""Characters in UTF-8: lines that hold odd ones."""

import numpy as np

from malmoi.arrays import BoolArray, Int64Array, UInt8Array
from malmoi.kernels.core.checks import ArrayOf, checked, require
from malmoi.kernels.core.jit import jit, jit_inline

BROKEN = -1


@jit_inline
def character_at(text: UInt8Array, at: int) -> tuple[int, int]:
    """The character at a position and how many bytes it takes; BROKEN if it is not UTF-8."""
    lead = int(np.int64(text[at]))
    size = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if size == 1:
        return lead, 1
    if lead < 0xC2 or lead > 0xF4 or at + size > len(text):
        return BROKEN, 1
    code = lead & (0x7F >> size)
    for i in range(1, size):
        following = int(np.int64(text[at + i]))
        if following & 0xC0 != 0x80:
            return BROKEN, 1
        code = code << 6 | (following & 0x3F)
    least = 0x80 if size == 2 else 0x800 if size == 3 else 0x10000
    if code < least or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return BROKEN, 1
    return code, size


def _require_ascii(text: UInt8Array, odd: BoolArray, starts: Int64Array, stops: Int64Array) -> None:
    require(len(odd) >= 0x80, f"odd has {len(odd)} characters, not at least 128")


@checked(
    _require_ascii,
    text=ArrayOf(np.uint8, "bytes"),
    odd=ArrayOf(np.bool_, "characters"),
    starts=ArrayOf(np.int64, "lines"),
    stops=ArrayOf(np.int64, "lines"),
)
@jit
def odd_lines(text: UInt8Array, odd: BoolArray, starts: Int64Array, stops: Int64Array) -> int:
    """Where lines begin and end that hold a character for which `odd` is set, or no UTF-8.

    Characters past the end of `odd` count as its last. Returns how many such lines there are;
    only as many as there is room for are written.
    """
    found, begin, is_odd = 0, 0, False
    at = 0
    while at <= len(text):
        if at == len(text) or text[at] == 10:
            if is_odd:
                if found < len(starts):
                    starts[found], stops[found] = begin, at
                found += 1
            begin, is_odd = at + 1, False
            at += 1
            continue
        byte = text[at]
        if byte < 0x80:
            is_odd |= odd[byte]
            at += 1
            continue
        code, size = character_at(text, at)
        is_odd |= code == BROKEN or odd[min(code, len(odd) - 1)]
        at += size
    return found
