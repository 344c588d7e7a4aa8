"""Blocks processed by several threads, with the results in order."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, wait
from typing import TypeVar

from malmoi.kernels.core.jit import pool
from malmoi.kernels.threads import THREADS

Block = TypeVar("Block")
Result = TypeVar("Result")


def in_order(
    work: Callable[[Block], Result], blocks: Iterable[Block], threads: int = THREADS
) -> Generator[Result, None, None]:
    """`map(work, blocks)` on several threads, which work a few blocks ahead."""
    if threads == 1:
        yield from map(work, blocks)
        return
    max_ahead = 2 * THREADS if threads >= THREADS else threads - 1
    ahead: deque[Future[Result]] = deque()
    try:
        for block in blocks:
            ahead.append(pool().submit(work, block))
            if len(ahead) > max_ahead:
                yield ahead[0].result()
                ahead.popleft()
        while ahead:
            yield ahead[0].result()
            ahead.popleft()
    finally:  # a consumer that stops early leaves no work running
        for future in ahead:
            future.cancel()
        wait(ahead)
