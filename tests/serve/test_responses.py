"""Answers in parts say what they say in one; what is done aside is dropped when a client leaves."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from malmoi.serve.http.response import (
    PART_BYTES,
    SMALL_NUMBERS,
    count_numbers,
    dump_json,
    dump_json_parts,
    is_small,
    small_groups,
)
from malmoi.serve.limits import Limits
from malmoi.serve.metrics import Metrics
from malmoi.serve.service.errors import ClientDisconnectedError
from malmoi.serve.service.loaded_models import Models
from malmoi.serve.service.request_context import RequestContext
from malmoi.serve.service.service import OFFLOAD_ABOVE, Service

ROWS = np.random.default_rng(0).standard_normal((300, 384)).astype(np.float32)
ANSWERS: dict[str, Any] = {
    "rows": {"model": "m", "embeddings": list(ROWS), "truncated": []},
    "rows twice": {"result": list(ROWS), "results": list(ROWS)},
    "one large row": {"vector": np.arange(5 * SMALL_NUMBERS, dtype=np.float32)},
    "rows of all sizes": [
        np.zeros(size, np.float32) for size in (0, 1, SMALL_NUMBERS, 2 * SMALL_NUMBERS, 1, 0, 7)
    ],
    "a list in a list": [[list(ROWS), []], [[list(ROWS)]], []],
    "texts": {"hits": [{"text": "a\n\"é가" * 9000, "fields": {"a": None, "b": True}}] * 40},
    "numbers": list(range(5 * SMALL_NUMBERS)),
    "nothing": {},
    "words": [{"word": "a", "begin": 1, "vector": row} for row in ROWS],
    "beyond 64 bits": [{"fields": {"a": 2**70}}] * SMALL_NUMBERS,
    "half a character": [{"text": "\udc80"}] * SMALL_NUMBERS,
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_in_parts_is_the_same_answer(name: str) -> None:
    found = dump_json_parts(ANSWERS[name])
    assert json.loads(b"".join(found)) == json.loads(dump_json(ANSWERS[name]))
    assert all(len(part) >= PART_BYTES for part in found[:-1])


def test_no_more_than_a_small_value_is_written_at_a_time() -> None:
    rows = list(ROWS)
    assert not is_small(rows)
    for group in small_groups(rows):
        assert count_numbers(group) <= SMALL_NUMBERS + len(group)
    assert sum(map(len, small_groups(rows))) == len(rows)


def context(disconnect: asyncio.Event) -> RequestContext:
    async def receive() -> dict[str, Any]:
        await disconnect.wait()
        return {"type": "http.disconnect"}

    return RequestContext("id", "/", None, receive)


def test_what_is_large_is_done_in_another_thread() -> None:
    async def ask() -> tuple[int, int]:
        service = Service(Models({}), Limits(), Metrics())
        stays = context(asyncio.Event())
        here = await service.offload_if_large(stays, threading.get_ident, OFFLOAD_ABOVE)
        return here, await service.offload_if_large(stays, threading.get_ident, OFFLOAD_ABOVE + 1)

    here, there = asyncio.run(ask())
    assert here == threading.get_ident() != there


def test_a_client_that_leaves_is_not_waited_for() -> None:
    begun, free, called = threading.Event(), threading.Event(), list[int]()

    def work() -> None:
        begun.set()
        free.wait(60)

    async def ask() -> None:
        service, disconnect = Service(Models({}), Limits(), Metrics()), asyncio.Event()
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        first = asyncio.ensure_future(service.offload_if_large(context(disconnect), work))
        second = asyncio.ensure_future(
            service.offload_if_large(context(disconnect), lambda: called.append(1))
        )
        while not begun.is_set():
            await asyncio.sleep(0.001)
        disconnect.set()
        for one in (first, second):
            with pytest.raises(ClientDisconnectedError):
                await one
        free.set()

    asyncio.run(ask())
    assert called == []  # it was waiting for the one thread, and never began
