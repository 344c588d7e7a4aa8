"""Traffic that no server should have to see, and what it may answer to it."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Act = Callable[[str, int, random.Random], Awaitable[int]]
LARGE = b'{"texts": ["' + b"a" * 10_000_000 + b'"]}'
LONG = 20.0  # seconds after which an answer counts as none
NONE = 0  # no answer, which is what a client that left or made no sense may get
BODIES = (
    b"",
    b"not json",
    b'{"texts": [',
    b'{"texts": 5}',
    b'{"texts": [1, 2]}',
    b'{"texts": ["\xff\xfe"]}',
    b'{"texts": ["\\ud800"]}',
    b'{"texts": ' + b"[" * 100_000,
    b'{"x": ' + b'{"a":' * 100_000,
    b'{"texts": ["a"], "layers": 99}',
    b'{"texts": ["a"], "layers": "all"}',
    b'{"texts": ["a"], "weights": [1e999]}',
    b"\x00" * 1000,
)
PATHS = ("/embed", "/v1/embeddings", "/encode", "/tokenize", "/neighbours", "/nothing")


def request(path: str, body: bytes, *, length: int | None = None) -> bytes:
    """A request; `length` is what it claims to be."""
    size = len(body) if length is None else length
    head = f"POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: {size}\r\n\r\n"
    return head.encode() + body


async def status_of(reader: asyncio.StreamReader) -> int:
    """The status of an answer, or none."""
    with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        async with asyncio.timeout(LONG):
            line = await reader.readline()
            return int(line.split()[1]) if line.startswith(b"HTTP/1.1 ") else NONE
    return NONE


async def send(host: str, port: int, data: bytes) -> int:
    """Send something and look at the status."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(data)
        with suppress(OSError):
            await writer.drain()
        return await status_of(reader)
    finally:
        await leave(writer)


async def leave(writer: asyncio.StreamWriter) -> None:
    """Close a connection, whatever became of it."""
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def bad_body(host: str, port: int, chance: random.Random) -> int:
    """A body that is no request."""
    return await send(host, port, request(chance.choice(PATHS), chance.choice(BODIES)))


async def large_text(host: str, port: int, chance: random.Random) -> int:
    """Ten megabytes of one text."""
    return await send(host, port, request("/embed", LARGE))


async def garbage(host: str, port: int, chance: random.Random) -> int:
    """What is not even HTTP."""
    return await send(host, port, chance.randbytes(200) + b"\r\n\r\n")


async def large_head(host: str, port: int, chance: random.Random) -> int:
    """Headers without an end."""
    head = b"GET /health HTTP/1.1\r\n" + b"x: " + b"a" * 200_000 + b"\r\n\r\n"
    return await send(host, port, head)


async def slow_head(host: str, port: int, chance: random.Random) -> int:
    """A header, letter by letter."""
    return await slowly(host, port, b"POST /embed HTTP/1.1\r\nhost: aaaa", 0.3)


async def slow_body(host: str, port: int, chance: random.Random) -> int:
    """A body, letter by letter, that ends too early."""
    return await slowly(host, port, request("/embed", b'{"texts": ["a', length=500), 0.1)


async def slowly(host: str, port: int, data: bytes, pause: float) -> int:
    """Send a byte at a time; then leave."""
    _, writer = await asyncio.open_connection(host, port)
    with suppress(OSError):
        for byte in data:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(pause)
    await leave(writer)
    return NONE


async def vanish(host: str, port: int, chance: random.Random) -> int:
    """Ask for much and leave before it is there."""
    texts = ["a text that takes a while to read " * 8] * chance.randint(1, 60)
    _, writer = await asyncio.open_connection(host, port)
    writer.write(request("/embed", json.dumps({"texts": texts}).encode()))
    with suppress(OSError):
        await writer.drain()
        await asyncio.sleep(chance.random() * 0.2)
    writer.transport.abort()
    return NONE


async def never_read(host: str, port: int, chance: random.Random) -> int:
    """Ask for much and never read the answer."""
    asked = json.dumps({"texts": ["words " * 50] * 20, "per": "piece"}).encode()
    _, writer = await asyncio.open_connection(host, port, limit=1)
    writer.write(request("/embed", asked))
    with suppress(OSError):
        await writer.drain()
        await asyncio.sleep(3)
    await leave(writer)
    return NONE


ACTS: tuple[Act, ...] = (
    bad_body,
    bad_body,
    bad_body,
    large_text,
    garbage,
    large_head,
    slow_head,
    slow_body,
    vanish,
    never_read,
)
