"""Tensor files taken apart and put together again, with checksums, without, or with wrong ones."""

import json
import struct
from typing import Any

from malmoi.files.checksums import block_checksums, encode_checksums, json_checksum

Header = dict[str, Any]
METADATA, SUMS = "__metadata__", ("crc32", "crc32_blocks")


def taken_apart(content: bytes) -> tuple[Header, bytes]:
    """The header and the bytes after it."""
    (length,) = struct.unpack_from("<Q", content)
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def joined(header: Header, body: bytes) -> bytes:
    """A file of this header."""
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def without_checksums(content: bytes) -> bytes:
    """The same as earlier releases wrote it."""
    header, body = taken_apart(content)
    for name in SUMS:
        header.get(METADATA, {}).pop(name, None)
    return joined(header, body)


def signed_again(content: bytes) -> bytes:
    """The same with the checksums of what it holds now, whatever that is."""
    header, body = taken_apart(without_checksums(content))
    metadata = header.setdefault(METADATA, {})
    metadata["crc32_blocks"] = encode_checksums(block_checksums([memoryview(body)]))
    metadata["crc32"] = json_checksum(header)
    return joined(header, body)
