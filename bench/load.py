"""`python -m bench.load ADDRESS PATH FILE CLIENTS SECONDS`: requests over loopback, timed.

Each client sends the next body of FILE (a line each) as soon as its last answer is there, over a
connection that stays open. A compact client on raw sockets: it shares the cores with the server.
"""

import asyncio
import json
import sys
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import cast
from urllib.parse import urlsplit

import uvloop

LENGTH = b"content-length: "


class Client(asyncio.Protocol):
    """One connection; `times` are of answers 200, `failed` of all others."""

    def __init__(self, requests: list[bytes], first: int, until: float) -> None:
        self.requests, self.next, self.until = requests, first, until
        self.times: list[float] = []
        self.failed = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.send()

    def send(self) -> None:
        self.missing, self.head = -1, b""
        self.begun = perf_counter()
        self.transport.write(self.requests[self.next % len(self.requests)])
        self.next += 1

    def data_received(self, data: bytes) -> None:
        if self.missing < 0:
            self.head += data
            end = self.head.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self.head[:end].lower() + b"\r\n"
            start = head.index(LENGTH) + len(LENGTH)
            size = int(head[start : head.index(b"\r\n", start)])
            self.status = int(head[9:12])
            self.missing = size - (len(self.head) - end - 4)
        else:
            self.missing -= len(data)
        if self.missing == 0:
            self.answered()

    def answered(self) -> None:
        now = perf_counter()
        if self.status == 200:
            self.times.append(now - self.begun)
        else:
            self.failed += 1
        if now < self.until:
            self.send()
        else:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)


async def load(address: str, path: str, bodies: list[bytes], clients: int, seconds: float) -> None:
    """Ask for some seconds, and print what it came to."""
    host, port = urlsplit(address).hostname or "", urlsplit(address).port or 0
    head = f"POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
    requests = [f"{head}content-length: {len(body)}\r\n\r\n".encode() + body for body in bodies]
    begun = perf_counter()
    loop = asyncio.get_running_loop()
    every = [
        Client(requests, number * len(requests) // clients, begun + seconds)
        for number in range(clients)
    ]
    for client in every:
        await loop.create_connection(partial(same, client), host, port)
    await asyncio.gather(*(client.done for client in every))
    taken = perf_counter() - begun
    times = sorted(time for client in every for time in client.times)
    figures = {
        "requests": len(times),
        "a_second": len(times) / taken,
        "median": times[len(times) // 2],
        "p99": times[min(len(times) - 1, len(times) * 99 // 100)],
        "failed": sum(client.failed for client in every),
    }
    print(json.dumps(figures))


def same(client: Client) -> Client:
    """What makes the client of a connection: it is made already."""
    return client


if __name__ == "__main__":
    address, path, file, clients, seconds = sys.argv[1:]
    lines = Path(file).read_bytes().splitlines()
    uvloop.run(load(address, path, lines, int(clients), float(seconds)))
