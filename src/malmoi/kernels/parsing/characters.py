"""Characters in UTF-8: finds lines that contain certain characters."""

import numpy as np

from malmoi.arrays import BoolArray, Int64Array, UInt8Array
from malmoi.kernels.core.checks import ArrayOf, checked, require
from malmoi.kernels.core.jit import jit, jit_inline

INVALID = -1


@jit_inline
def character_at(text: UInt8Array, at: int) -> tuple[int, int]:
    """The code point at a position and its number of bytes; INVALID if it is not UTF-8."""
    lead = int(np.int64(text[at]))
    size = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if size == 1:
        return lead, 1
    if lead < 0xC2 or lead > 0xF4 or at + size > len(text):
        return INVALID, 1
    code = lead & (0x7F >> size)
    for i in range(1, size):
        following = int(np.int64(text[at + i]))
        if following & 0xC0 != 0x80:
            return INVALID, 1
        code = code << 6 | (following & 0x3F)
    lowest = 0x80 if size == 2 else 0x800 if size == 3 else 0x10000  # shorter forms are invalid
    if code < lowest or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return INVALID, 1
    return code, size


def _require_ascii(
    text: UInt8Array, is_wanted: BoolArray, starts: Int64Array, stops: Int64Array
) -> None:
    size = len(is_wanted)
    require(size >= 0x80, f"is_wanted has {size} characters, not at least 128")


@checked(
    _require_ascii,
    text=ArrayOf(np.uint8, "bytes"),
    is_wanted=ArrayOf(np.bool_, "characters"),
    starts=ArrayOf(np.int64, "lines"),
    stops=ArrayOf(np.int64, "lines"),
)
@jit
def find_lines_with(
    text: UInt8Array, is_wanted: BoolArray, starts: Int64Array, stops: Int64Array
) -> int:
    """Find lines with a character for which `is_wanted` is set, or with invalid UTF-8.

    Characters beyond the end of `is_wanted` count as its last one. Writes the starts and stops of
    as many lines as the arrays hold, and returns how many there are.
    """
    count, begin, is_match = 0, 0, False
    at = 0
    while at <= len(text):
        if at == len(text) or text[at] == 10:
            if is_match:
                if count < len(starts):
                    starts[count], stops[count] = begin, at
                count += 1
            begin, is_match = at + 1, False
            at += 1
            continue
        byte = text[at]
        if byte < 0x80:
            is_match |= is_wanted[byte]
            at += 1
            continue
        code, size = character_at(text, at)
        is_match |= code == INVALID or is_wanted[min(code, len(is_wanted) - 1)]
        at += size
    return count
