"""Answers as JSON in parts, so that a large one blocks no other request and is buffered once.

Python holds its lock while one value is serialized; values are small, so other threads get
their turn.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import orjson
from starlette.types import Send

SMALL_NUMBERS = 16_384  # serialized in a millisecond
PART_BYTES = 1 << 18  # sent at a time
CHARACTERS_PER_NUMBER = 8  # serialized in the time of one number


def dump_json(value: Any) -> bytes:
    """Serialize a value; arrays are written directly, integers beyond 64 bits in full."""
    try:
        return orjson.dumps(value, default=msgspec.to_builtins, option=orjson.OPT_SERIALIZE_NUMPY)
    except orjson.JSONEncodeError:  # such an integer, or a lone surrogate, in the fields of a text
        return json.dumps(value, default=to_builtins).encode()


def to_builtins(value: Any) -> Any:
    """An array as lists, a struct as a dict."""
    return value.tolist() if isinstance(value, np.ndarray) else msgspec.to_builtins(value)


def is_small(value: Any) -> bool:
    """Whether a value is serialized within a millisecond."""
    return count_numbers(value) <= SMALL_NUMBERS


def count_numbers(value: Any) -> int:
    """About how many numbers a value has; counting stops once it is large."""
    total, pending = 0, [value]
    while pending and total <= SMALL_NUMBERS:
        one = pending.pop()
        if isinstance(one, dict):
            total += len(one)
            pending.extend(one.values())
        elif isinstance(one, list | tuple):
            total += len(one)
            pending.extend(one[: SMALL_NUMBERS + 1])
        elif isinstance(one, np.ndarray):
            total += one.size
        else:
            total += 1 + (len(one) // CHARACTERS_PER_NUMBER if isinstance(one, str) else 0)
    return total


def dump_json_parts(value: Any) -> list[bytes]:
    """Serialize a value in parts of about `PART_BYTES`."""
    parts, buffer, size = list[bytes](), list[bytes](), 0
    for chunk in iter_json(value):
        buffer.append(chunk)
        size += len(chunk)
        if size >= PART_BYTES:
            parts.append(b"".join(buffer))
            buffer, size = [], 0
    return [*parts, b"".join(buffer)] if buffer else parts


def iter_json(value: Any) -> Iterator[bytes]:
    """Serialize a value chunk by chunk, no chunk with more than a small value."""
    if is_small(value) or not isinstance(value, dict | list | tuple):
        yield dump_json(value)
    elif isinstance(value, dict):
        separator = b"{"
        for key, one in value.items():
            yield separator + dump_json(key) + b":"
            yield from iter_json(one)
            separator = b","
        yield b"}"
    else:
        separator = b"["
        for group in small_groups(value):
            yield separator
            if len(group) > 1:
                yield dump_json(group)[1:-1]
            else:
                yield from iter_json(group[0])
            separator = b","
        yield b"]"


def small_groups(values: Sequence[Any]) -> Iterator[list[Any]]:
    """Group values in order; a group is small, or has one value."""
    group, total = list[Any](), 0
    for value in values:
        size = count_numbers(value)
        if group and total + size > SMALL_NUMBERS:
            yield group
            group, total = [], 0
        group.append(value)
        total += size
    if group:
        yield group


async def send_response(
    send: Send,
    status: int,
    parts: Sequence[bytes],
    content_type: str,
    headers: dict[str, str] | None = None,
) -> None:
    """Send an answer; each part waits until the one before is written."""
    size = sum(map(len, parts))
    pairs = [(b"content-type", content_type.encode()), (b"content-length", str(size).encode())]
    pairs += [(name.encode(), value.encode("latin-1")) for name, value in (headers or {}).items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    for part in parts[:-1]:
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": parts[-1] if parts else b""})
