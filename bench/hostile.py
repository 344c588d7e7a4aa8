"""Traffic that no server should have to see, and what it may answer to it.

`python -m bench hostile`: how long each request of 8 MB holds the event loop, and what becomes of
thousands of hostile ones.
"""

import asyncio
import json
import random
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from urllib.parse import urlsplit

from bench.data import Data
from bench.holding import Held, Watched, large_requests, watched
from bench.hostile_models import make_places
from bench.measure import Figure, megabytes, say, seconds

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
HELD = 0.05  # seconds that a request may hold the event loop
AGAIN = 3  # times that a request is sent again that seems to hold it for long
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"  # an answer will follow
SEED, CASES, PATIENCE = 7, 10_000, 60.0  # of hostile requests; seconds without a byte of an answer
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
    asked = json.dumps({"texts": ["words " * 50] * 20, "per": "token"}).encode()
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


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part."""
    with watched(*make_places(data.folder)) as server:
        yield from holding(server)
        yield hostile_requests(server)
        yield Figure(
            name="memory at its peak",
            ours=megabytes(server.look()[1]),
            remark="The server holds minilm, GloVe 6B of 400,000 words, n-grams, an index"
            " and a classifier.",
        )


def holding(server: Watched) -> Iterator[Figure]:
    """The longest time that the loop is held, at each endpoint."""
    found: dict[str, list[Held]] = {}
    for large in large_requests():
        held = server.send(large)
        for _ in range(AGAIN):  # what is the request's own is there each time
            if held.seconds > HELD / 2:
                held = min(held, server.send(large), key=lambda one: one.seconds)
        say(f"{large.path} {large.name}: {held.status}, {seconds(held.seconds)}")
        found.setdefault(large.path, []).append(held)
    for path, every in found.items():
        worst = max(every, key=lambda one: one.seconds)
        yield Figure(
            name=f"loop held, {path}",
            ours=seconds(worst.seconds),
            asked=f"≤ {seconds(HELD)}",
            met=worst.seconds <= HELD and all(0 < one.status < 500 for one in every),
            remark=f"{path}: of {len(every)} requests of 8 MB the worst is {worst.large.name}.",
        )


def hostile_requests(server: Watched) -> Figure:
    """What is answered to thousands of odd requests."""
    from tests.serve.hostile_requests import cases

    port, statuses, wrong = urlsplit(server.address).port or 0, Counter[int](), list[str]()
    for case in cases(SEED, CASES):
        status = status_after(port, case.sent, case.ends)
        statuses[status] += 1
        if (status >= 500 and status != 503) or status < 0 or (case.ends and status == NONE):
            wrong.append(f"{case.name}: {status}.")
    answers = ", ".join(f"{n:,} × {s or 'none'}" for s, n in sorted(statuses.items()))
    return Figure(
        name="hostile requests that fail",
        ours=f"{len(wrong)} of {CASES:,}",
        asked="0",
        met=not wrong,
        remark=f"Answers to them: {answers}. {' '.join(wrong[:3])}",
    )


def status_after(port: int, sent: bytes, ends: bool) -> int:
    """The status of what is answered to bytes; none if the server hangs up, -1 if it hangs."""
    found = b""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        try:
            connection.sendall(sent)
            if not ends:
                connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(1 << 16):
                found = (found + part)[:1000].removeprefix(CONTINUE)
        except TimeoutError:
            return -1
        except OSError:  # it hung up while we were sending
            with suppress(OSError):
                found = found or connection.recv(1 << 16)
    return int(found[9:12]) if found.startswith(b"HTTP/1.1 ") else NONE
