"""Ways to damage the bytes of a file: like a disk, like a cut transfer, like a careless editor.

Every function takes bytes and a source of randomness and gives other bytes. Knows no format but
the header of a tensor file and what a number looks like in text.
"""

import re
from collections.abc import Callable
from random import Random
from typing import Any

from bench.tampering import joined, taken_apart

Mutation = Callable[[bytes, Random], bytes]

NUMBERS = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
ODD_NUMBERS = (b"-1", b"0", b"1", b"2147483647", b"4294967295", b"9223372036854775807", b"-9" * 9,
               b"99999999999999999999999", b"1e999", b"-1e-999", b"NaN", b"null", b"[]", b"{}",
               b'"a"', b"true", b"", b"0.5")  # fmt: skip
ODD_WORDS = (0, 1, 2, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
             0x7F800000, 0x7FC00000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF,
             0x7FF8000000000000)  # fmt: skip
TELLING = (b"\0", b"\xff", b"\x80", b" ", b"\n", b"\t", b"-", b"9", b"{", b'"', b"[", b"\r\n",
           b"\\", b"\0" * 8, b"\xff" * 8, b"nan", b"1e999", b"\xf0\x9f")  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (None, True, -1, 0, 1, 2**31, 2**63, 10**30, 0.5, float("inf"), "",
                               "a", "1", "../../x", [], [1], [-1, 2], {}, {"a": 1})  # fmt: skip


def place(content: bytes, random: Random) -> int:
    """Where to do it: anywhere, or near an end, where sizes and offsets are kept."""
    size = len(content)
    if random.random() < 0.4:
        near = random.randrange(min(size, 200) + 1)
        return near if random.random() < 0.7 else size - near
    return random.randrange(size + 1)


def flip_bits(content: bytes, random: Random) -> bytes:
    """One bit to eight."""
    if not content:
        return content
    found = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 8))):
        found[min(place(content, random), len(found) - 1)] ^= 1 << random.randrange(8)
    return bytes(found)


def overwrite(content: bytes, random: Random) -> bytes:
    """A run of random bytes."""
    at, size = place(content, random), random.choice((1, 2, 4, 16, 64))
    return content[:at] + random.randbytes(size) + content[at + size :]


def cut_off(content: bytes, random: Random) -> bytes:
    """Everything from somewhere on is missing."""
    return content[: place(content, random)]


def insert(content: bytes, random: Random) -> bytes:
    """Something that formats care about, or random bytes."""
    at = place(content, random)
    new = random.choice(TELLING) if random.random() < 0.6 else random.randbytes(8)
    return content[:at] + new + content[at:]


def zero_block(content: bytes, random: Random) -> bytes:
    """A block that was never written."""
    at, size = place(content, random), random.choice((8, 64, 512, 4096))
    return content[:at] + bytes(len(content[at : at + size])) + content[at + size :]


def repeat_block(content: bytes, random: Random) -> bytes:
    """A block that comes twice."""
    at, size = place(content, random), random.choice((1, 4, 8, 64, 512))
    return content[: at + size] + content[at:]


def drop_block(content: bytes, random: Random) -> bytes:
    """A block that is missing."""
    at, size = place(content, random), random.choice((1, 4, 8, 64, 512))
    return content[:at] + content[at + size :]


def swap_blocks(content: bytes, random: Random) -> bytes:
    """Two blocks in each other's places."""
    size = random.choice((4, 8, 64, 512))
    first, second = sorted((place(content, random), place(content, random)))
    if second - first < size:
        return content
    one, other = content[first : first + size], content[second : second + size]
    between = content[first + size : second]
    return content[:first] + other + between + one + content[second + size :]


def odd_word(content: bytes, random: Random) -> bytes:
    """A whole number of four or eight bytes that is at some limit."""
    size = random.choice((4, 8))
    at = place(content, random) // size * size
    new = (random.choice(ODD_WORDS) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    return content[:at] + new + content[at + size :]


def odd_number(content: bytes, random: Random) -> bytes:
    """A number in text that becomes another, or none."""
    found = list(NUMBERS.finditer(content[: 1 << 16]))
    if not found:
        return overwrite(content, random)
    chosen = random.choice(found)
    return content[: chosen.start()] + random.choice(ODD_NUMBERS) + content[chosen.end() :]


def edit_header(content: bytes, random: Random) -> bytes:
    """An entry of a tensor file's header, or of a JSON file, that is changed, gone or renamed."""
    import json

    try:
        is_tensors = content[8:9] == b"{"
        header, body = taken_apart(content) if is_tensors else (json.loads(content), b"")
    except ValueError:
        return odd_number(content, random)
    edit_value(header, random)
    return joined(header, body) if is_tensors else json.dumps(header).encode()


def edit_value(value: Any, random: Random) -> None:
    """Change something in nested lists and dictionaries."""
    while isinstance(value, dict | list) and value:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = random.choice(keys)
        if isinstance(value[key], dict | list) and value[key] and random.random() < 0.8:
            value = value[key]
            continue
        how = random.randrange(4)
        if how == 0:
            del value[key]
        elif how == 1:
            value[key] = value[random.choice(keys)]
        elif how == 2 and isinstance(value, dict):
            value[f"{key}x"] = value.pop(key)
        else:
            value[key] = random.choice(ODD_VALUES)
        return


MUTATIONS: tuple[Mutation, ...] = (
    flip_bits, flip_bits, overwrite, cut_off, insert, zero_block, repeat_block, drop_block,
    swap_blocks, odd_word, odd_number, edit_header,
)  # fmt: skip


def mutated(content: bytes, random: Random) -> bytes:
    """One mutation, sometimes two or three."""
    for _ in range(random.choice((1, 1, 1, 1, 2, 3))):
        content = random.choice(MUTATIONS)(content, random)
    return content
