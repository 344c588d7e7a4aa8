"""Objects of an HDF5 file: their headers, and the messages in them that describe an array.

An object has a header, which is a list of messages: of a group, where its members are; of an
array, its dataspace (shape), datatype and layout (where its bytes are). Headers have two versions.
The numbers below are those of the HDF5 file format specification. Knows nothing of groups.
"""

import struct
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from malmoi.arrays import UInt8Array
from malmoi.errors import InvalidArgumentError

DATASPACE, LINK_INFO, DATATYPE, LINK, LAYOUT, FILTERS, CONTINUATION, SYMBOL_TABLE = (
    0x01, 0x02, 0x03, 0x06, 0x08, 0x0B, 0x10, 0x11
)  # fmt: skip
UNDEFINED = 0xFFFF_FFFF_FFFF_FFFF  # an address that is not there
INTEGERS, FLOATS = 0, 1  # classes of datatypes
# Bit offset, precision, exponent location and size, mantissa location and size, exponent bias.
IEEE_FLOATS = {
    2: (0, 16, 10, 5, 0, 10, 15),
    4: (0, 32, 23, 8, 0, 23, 127),
    8: (0, 64, 52, 11, 0, 52, 1023),
}
COMPACT, CONTIGUOUS = 0, 1  # classes of layouts; others are in chunks
MAX_DIMENSIONS = 32
CONVERT = "write it uncompressed and in one block with h5py"


@dataclass(frozen=True, eq=False)
class FileBytes:
    """The bytes of a file; whatever is read beyond its end raises."""

    mapped: UInt8Array

    def read(self, start: int, size: int) -> bytes:
        """`size` bytes from `start` on."""
        if not 0 <= start <= start + size <= len(self.mapped):
            raise InvalidArgumentError(
                f"it should have {size:,} bytes at {start:,}, but it ends at {len(self.mapped):,}"
            )
        return self.mapped[start : start + size].tobytes()

    def unpack(self, layout: str, start: int) -> tuple[Any, ...]:
        """Little-endian numbers from `start` on."""
        return struct.unpack(f"<{layout}", self.read(start, struct.calcsize(f"<{layout}")))


class Message(NamedTuple):
    """A message of an object header."""

    kind: int
    body: bytes


def read_messages(data: FileBytes, address: int) -> list[Message]:
    """All messages of the object with its header at an address."""
    if data.read(address, 4) == b"OHDR":
        return _messages_of_blocks(data, *_first_block(data, address))
    version, _, _, _, size = data.unpack("BBHII", address)
    if version != 1:
        raise InvalidArgumentError(f"there is no object header at {address:,}")
    return _messages_of_blocks(data, 1, address + 16, size, 0)


def _first_block(data: FileBytes, address: int) -> tuple[int, int, int, int]:
    """The version of a newer header, its first block of messages and its flags."""
    version, flags = data.unpack("BB", address + 4)
    if version != 2:
        raise InvalidArgumentError(f"the object header at {address:,} has version {version}")
    start = address + 6 + 16 * bool(flags & 0x20) + 4 * bool(flags & 0x10)
    (size,) = data.unpack("BHIQ"[flags & 3], start)
    return 2, start + (1 << (flags & 3)), size, flags


def _messages_of_blocks(
    data: FileBytes, version: int, start: int, size: int, flags: int
) -> list[Message]:
    """The messages of a header's first block, and of all blocks that continue it."""
    messages: list[Message] = []
    blocks, seen = [(start, size)], {start}
    for begin, length in blocks:
        for message in _messages_of_block(data, version, begin, length, flags):
            if message.kind != CONTINUATION:
                messages.append(message)
                continue
            address, count = struct.unpack("<QQ", message.body[:16])
            if address in seen:
                raise InvalidArgumentError(f"its object header at {address:,} contains itself")
            seen.add(address)
            # A newer block begins with a signature, OCHK, and ends with a checksum.
            blocks.append((address, count) if version == 1 else (address + 4, count - 8))
    return messages


def _messages_of_block(
    data: FileBytes, version: int, start: int, size: int, flags: int
) -> list[Message]:
    block, messages, at = data.read(start, size), [], 0
    head = 8 if version == 1 else 6 if flags & 4 else 4
    while at + head <= size:
        kind, length = struct.unpack_from("<HH" if version == 1 else "<BH", block, at)
        at += head
        if at + length > size:
            raise InvalidArgumentError(f"a message at {start + at:,} is longer than its header")
        messages.append(Message(kind, block[at : at + length]))
        at += length
    return messages


def read_array(data: FileBytes, name: str, messages: list[Message]) -> npt.NDArray[Any]:
    """The array that messages describe, as a view of the file.

    Raises:
        InvalidArgumentError: It is compressed, in chunks, of another type, or beyond the file.
    """
    bodies = {message.kind: message.body for message in messages}
    if any(kind not in bodies for kind in (DATASPACE, DATATYPE, LAYOUT)):
        raise InvalidArgumentError(f"'{name}' has no shape, type or layout")
    if FILTERS in bodies:
        raise InvalidArgumentError(f"'{name}' is compressed: {CONVERT}")
    shape, dtype = _shape(name, bodies[DATASPACE]), _dtype(name, bodies[DATATYPE])
    size = prod(shape) * dtype.itemsize
    start, stored = _bytes_of(name, bodies[LAYOUT], len(data.mapped))
    if isinstance(stored, bytes):
        buffer: Any = stored
    else:
        buffer = data.mapped[start : start + stored]
    if start + size > len(data.mapped) or len(buffer) < size:
        raise InvalidArgumentError(
            f"'{name}' should take {size:,} bytes at {start:,}, but the file ends at"
            f" {len(data.mapped):,}"
        )
    return np.frombuffer(buffer, dtype, prod(shape)).reshape(shape)


def _shape(name: str, body: bytes) -> tuple[int, ...]:
    version, rank = body[0], body[1]
    if version not in (1, 2) or rank > MAX_DIMENSIONS:
        raise InvalidArgumentError(f"'{name}' has a shape of version {version}, rank {rank}")
    return struct.unpack_from(f"<{rank}Q", body, 8 if version == 1 else 4)


def _dtype(name: str, body: bytes) -> np.dtype[Any]:
    kind, flags, _, _, size = struct.unpack_from("<4BI", body)
    order = ">" if flags & 1 else "<"
    if kind & 0x0F == INTEGERS and struct.unpack_from("<HH", body, 8) == (0, 8 * size):
        return np.dtype(f"{order}{'i' if flags & 8 else 'u'}{size}")
    is_ieee = size in IEEE_FLOATS and not flags & 0x40
    if kind & 0x0F == FLOATS and is_ieee and _float_fields(body) == IEEE_FLOATS[size]:
        return np.dtype(f"{order}f{size}")
    raise InvalidArgumentError(f"'{name}' does not hold numbers of 8 to 64 bits")


def _float_fields(body: bytes) -> tuple[int, ...]:
    return struct.unpack_from("<HH4BI", body, 8)


def _bytes_of(name: str, body: bytes, file_size: int) -> tuple[int, int | bytes]:
    """Where an array's bytes begin, and how many there are; small ones are in the message."""
    version, kind = (body[0], body[1]) if body[0] >= 3 else (body[0], body[2])
    if version not in (1, 2, 3, 4) or kind not in (COMPACT, CONTIGUOUS):
        raise InvalidArgumentError(f"'{name}' is stored in chunks: {CONVERT}")
    if kind == COMPACT:
        (size,) = struct.unpack_from("<H", body, 2)
        return 0, body[4 : 4 + size]
    address, size = struct.unpack_from("<QQ", body, 2) if version >= 3 else (
        struct.unpack_from("<Q", body, 8)[0], file_size
    )  # fmt: skip
    if address == UNDEFINED and size:
        raise InvalidArgumentError(f"'{name}' was never written")
    return (0, b"") if address == UNDEFINED else (address, size)  # an empty array has no address
