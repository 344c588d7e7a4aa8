"""Writes Protocol Buffers messages field by field: as much as an ONNX graph needs.

    a field      its number and wire type as a varint, then its value
    varint       seven bits per byte, lowest first; the high bit means that more follow
    text, bytes, messages   their length as a varint, then the bytes

Knows nothing of ONNX.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence

VARINT, LENGTH, FLOAT = 0, 2, 5  # wire types
BITS = 64  # a negative number is written as its two's complement

Scalar = int | float | str | bytes
MessageFields = Mapping[
    int, Scalar | Sequence[Scalar]
]  # by number; several values repeat the field


def message(fields: MessageFields) -> bytes:
    """The bytes of a message; pass a nested message as its bytes."""
    return b"".join(_field(number, one) for number, value in fields.items() for one in _each(value))


def varint(number: int) -> bytes:
    """The bytes of an integer."""
    rest, encoded = number % (1 << BITS), bytearray()
    while rest > 0x7F:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


def _each(value: Scalar | Sequence[Scalar]) -> Iterator[Scalar]:
    if isinstance(value, int | float | str | bytes):
        yield value
    else:
        yield from value


def _field(number: int, value: Scalar) -> bytes:
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | FLOAT) + struct.pack("<f", value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | LENGTH) + varint(len(content)) + content
