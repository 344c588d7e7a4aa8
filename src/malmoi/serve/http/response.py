"""Answers as JSON, in parts: a large one neither holds up others nor waits in memory twice.

Python holds its lock while a value is written; values are small, and others get their turn.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import orjson
from starlette.types import Send

SMALL = 16_384  # numbers that are written in a millisecond
PART = 1 << 18  # bytes that are sent at a time
PER_NUMBER = 8  # characters that are written in the time of a number


def as_json(found: Any) -> bytes:
    """A value as JSON; arrays are written as they are, and numbers beyond 64 bits in full."""
    try:
        return orjson.dumps(found, default=msgspec.to_builtins, option=orjson.OPT_SERIALIZE_NUMPY)
    except orjson.JSONEncodeError:  # such a number, or half a character, in the fields of a text
        return json.dumps(found, default=plain).encode()


def plain(value: Any) -> Any:
    """An array as lists, a struct as what it holds."""
    return value.tolist() if isinstance(value, np.ndarray) else msgspec.to_builtins(value)


def is_small(value: Any) -> bool:
    """Whether a value is written in no time."""
    return weight(value) <= SMALL


def weight(value: Any) -> int:
    """About how many numbers a value has; of a large one, no more is counted than that it is."""
    total, waiting = 0, [value]
    while waiting and total <= SMALL:
        one = waiting.pop()
        if isinstance(one, dict):
            total += len(one)
            waiting.extend(one.values())
        elif isinstance(one, list | tuple):
            total += len(one)
            waiting.extend(one[: SMALL + 1])
        elif isinstance(one, np.ndarray):
            total += one.size
        else:
            total += 1 + (len(one) // PER_NUMBER if isinstance(one, str) else 0)
    return total


def parts(found: Any) -> list[bytes]:
    """JSON in parts of about `PART` bytes."""
    done, waiting, size = list[bytes](), list[bytes](), 0
    for one in written(found):
        waiting.append(one)
        size += len(one)
        if size >= PART:
            done.append(b"".join(waiting))
            waiting, size = [], 0
    return [*done, b"".join(waiting)] if waiting else done


def written(value: Any) -> Iterator[bytes]:
    """JSON bit by bit, no bit of more than a small value."""
    if is_small(value) or not isinstance(value, dict | list | tuple):
        yield as_json(value)
    elif isinstance(value, dict):
        between = b"{"
        for key, one in value.items():
            yield between + as_json(key) + b":"
            yield from written(one)
            between = b","
        yield b"}"
    else:
        between = b"["
        for group in grouped(value):
            yield between
            if len(group) > 1:
                yield as_json(group)[1:-1]
            else:
                yield from written(group[0])
            between = b","
        yield b"]"


def grouped(values: Sequence[Any]) -> Iterator[list[Any]]:
    """Values in order, as many together as are small."""
    group, total = list[Any](), 0
    for value in values:
        size = weight(value)
        if group and total + size > SMALL:
            yield group
            group, total = [], 0
        group.append(value)
        total += size
    if group:
        yield group


async def respond(
    send: Send,
    status: int,
    body: Sequence[bytes],
    kind: str,
    headers: dict[str, str] | None = None,
) -> None:
    """Send all of an answer, the next part when the one before is on its way."""
    size = sum(map(len, body))
    pairs = [(b"content-type", kind.encode()), (b"content-length", str(size).encode())]
    pairs += [(name.encode(), value.encode("latin-1")) for name, value in (headers or {}).items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    for part in body[:-1]:
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": body[-1] if body else b""})
