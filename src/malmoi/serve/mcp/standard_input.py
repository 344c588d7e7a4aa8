"""StandardInput: lines of standard input for an event loop, which can be left at any time.

A thread that waits in `readline` keeps a program alive after Ctrl-C until the client sends another
line. This one reads the file descriptor itself, and is left behind as a daemon.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from contextlib import suppress
from threading import Thread
from types import TracebackType
from typing import Self

CHUNK_BYTES, MAX_CHUNKS = 1 << 16, 64  # the client waits while so many are not processed


class StandardInput:
    """Iterates over lines of UTF-8; inside a `with`, file 0 is empty for everything else."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue(MAX_CHUNKS)
        self._descriptor = -1

    def __enter__(self) -> Self:
        stdin = sys.stdin.fileno()
        self._descriptor = os.dup(stdin)
        empty = os.open(os.devnull, os.O_RDONLY)
        os.dup2(empty, stdin)
        os.close(empty)
        Thread(target=self._read, name="malmoi-stdin", daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the thread: its descriptor stays open, for it may be waiting there."""

    async def __aiter__(self) -> AsyncIterator[str]:
        begun = list[bytes]()  # the parts of a line without its end
        while chunk := await self._chunks.get():
            *ends, rest = chunk.split(b"\n")
            for end in ends:
                yield b"".join([*begun, end]).decode("utf-8", errors="replace")
                begun = []
            begun.append(rest)
        if any(begun):
            yield b"".join(begun).decode("utf-8", errors="replace")

    def _read(self) -> None:
        with suppress(RuntimeError, CancelledError):  # the loop has ended
            chunk = b"begin"
            while chunk:
                chunk = os.read(self._descriptor, CHUNK_BYTES)
                asyncio.run_coroutine_threadsafe(self._chunks.put(chunk), self._loop).result()
