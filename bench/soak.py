"""Good and hostile traffic at once: no good request is lost, memory stays, nothing else fails.

`python -m bench soak --minutes 10`. Good clients check every vector against the library's.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import urlsplit

import numpy as np

from bench.data import Data
from bench.encoding import MODEL
from bench.hostile import ACTS, NONE, request
from bench.measure import Figure, megabytes, say
from bench.serving import ours
from malmoi.arrays import Float32Array
from malmoi.encode.encoder import load_transformer

Result = TypeVar("Result")
GOOD, HOSTILE = 6, 6  # clients of each kind
OVERLOADED = 503
LONGEST = 60  # seconds for an answer
GROWTH = 1.1  # of the memory of the second quarter, in the last
TEXTS = [f"sentence {i}: the bank of the river was {'very ' * (i % 40)}wide." for i in range(60)]


@dataclass
class Outcome:
    """What became of everything."""

    good: int = 0
    wrong: list[str] = field(default_factory=list)  # good requests that were not answered rightly
    overloaded: int = 0
    statuses: Counter[int] = field(default_factory=Counter)  # of hostile requests
    memory: list[int] = field(default_factory=list)  # bytes, each second

    @property
    def faults(self) -> int:
        """Answers that say that the server failed."""
        return sum(n for status, n in self.statuses.items() if 500 <= status != OVERLOADED)

    @property
    def growth(self) -> float:
        """The memory of the last quarter over that of the second."""
        quarter = max(1, len(self.memory) // 4)
        return median(self.memory[-quarter:]) / median(self.memory[quarter : 2 * quarter])


def run(data: Data) -> Iterator[Figure]:
    """Soak a server of our own."""
    with ours() as server:
        say(f"{data.minutes:g} minutes of good and hostile traffic")
        found = asyncio.run(soak(server.address, server.process.pid, data.minutes * 60))
    hostile = sum(found.statuses.values())
    answers = ", ".join(f"{n:,} × {s or 'none'}" for s, n in sorted(found.statuses.items()))
    yield Figure(
        name="good requests lost",
        ours=f"{len(found.wrong)} of {found.good:,}",
        asked="0",
        met=found.good > 0 and not found.wrong,
        remark=f"{found.overloaded} were told to come back. {' '.join(found.wrong[:3])}",
    )
    yield Figure(
        name="5xx to hostile ones",
        ours=f"{found.faults} of {hostile:,}",
        asked="0",
        met=found.faults == 0,
        remark=f"answers to hostile requests: {answers}.",
    )
    quarter = max(1, len(found.memory) // 4)
    before, after = median(found.memory[quarter : 2 * quarter]), median(found.memory[-quarter:])
    yield Figure(
        name="memory, 2nd and last quarter",
        ours=f"{megabytes(before)} → {megabytes(after)}",
        asked=f"< {GROWTH:g}×",
        met=found.growth < GROWTH,
    )


async def soak(address: str, process: int, seconds: float) -> Outcome:
    """Let all clients loose for some seconds."""
    host, port = urlsplit(address).hostname or "", urlsplit(address).port or 0
    encoder = load_transformer(MODEL)
    own, recipe = encoder.encode(TEXTS), encoder.encode(TEXTS, recipe="bert-as-service")
    until, outcome = monotonic() + seconds, Outcome()
    async with asyncio.TaskGroup() as group:
        for number in range(GOOD):
            client = Good(host, port, random.Random(number), own, recipe)
            group.create_task(client.ask_on(until, outcome))
        for number in range(HOSTILE):
            group.create_task(attack_on(host, port, random.Random(100 + number), until, outcome))
        group.create_task(watch(process, until, outcome))
    return outcome


@dataclass
class Good:
    """A client that asks properly over a connection that stays open, and checks what it gets."""

    host: str
    port: int
    chance: random.Random
    own: Float32Array
    recipe: Float32Array

    async def ask_on(self, until: float, outcome: Outcome) -> None:
        """One request after the other."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        while monotonic() < until:
            places = self.chance.sample(range(len(TEXTS)), self.chance.randint(1, 5))
            path, asked, expected = self.question(places)
            outcome.good += 1
            try:
                status, answer = await within(
                    LONGEST, self.exchange(reader, writer, path, asked, outcome)
                )
            except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError) as error:
                outcome.wrong.append(f"{path}: {type(error).__name__}.")
                reader, writer = await asyncio.open_connection(self.host, self.port)
                continue
            if status != 200 or not np.allclose(rows_of(answer), expected, atol=1e-5):
                outcome.wrong.append(f"{path}: {status}.")
        writer.close()

    def question(self, places: list[int]) -> tuple[str, dict[str, Any], Float32Array]:
        """A path, what to ask it, and what it must answer."""
        texts = [TEXTS[place] for place in places]
        which = self.chance.randrange(4)
        if which == 0:
            return "/v1/embeddings", {"model": MODEL, "input": texts}, self.own[places]
        if which == 1:
            return "/encode", {"id": 1, "texts": texts}, self.recipe[places]
        if which == 2:
            return "/embed", {"texts": texts, "layers": -2, "pool": "mean"}, self.recipe[places]
        return "/embed", {"texts": texts}, self.own[places]

    async def exchange(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        path: str,
        asked: dict[str, Any],
        outcome: Outcome,
    ) -> tuple[int, Any]:
        """One request and its answer; told to come back, it comes back."""
        while True:
            writer.write(request(path, json.dumps(asked).encode()))
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:-2])
            body = await reader.readexactly(int(fields["content-length"]))
            status = int(head[9:12])
            if status != OVERLOADED:
                return status, json.loads(body)
            outcome.overloaded += 1
            await asyncio.sleep(float(fields["retry-after"]))


async def within(seconds: int, work: Coroutine[Any, Any, Result]) -> Result:
    """What comes of it in so many seconds, of which those do not count when all stood still."""
    task = asyncio.ensure_future(work)
    for _ in range(seconds):
        if (await asyncio.wait({task}, timeout=1))[0]:
            return task.result()
    task.cancel()
    raise TimeoutError


def rows_of(answer: dict[str, Any]) -> Any:
    """The vectors of an answer, in whichever dialect."""
    if "data" in answer:
        return [one["embedding"] for one in answer["data"]]
    return answer.get("embeddings") or answer.get("result") or []


async def attack_on(
    host: str, port: int, chance: random.Random, until: float, outcome: Outcome
) -> None:
    """One hostile act after the other."""
    while monotonic() < until:
        try:
            status = await chance.choice(ACTS)(host, port, chance)
        except OSError:
            status = NONE
        outcome.statuses[status] += 1


async def watch(process: int, until: float, outcome: Outcome) -> None:
    """How much memory the server has, each second."""
    while monotonic() < until:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
        held = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
        outcome.memory.append(held * 1024)
        await asyncio.sleep(min(1.0, max(0.05, until - monotonic())))
