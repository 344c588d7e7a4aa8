"""What all requests share: the models, the workers, and what is counted."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeVar

from malmoi.kernels.threads import THREADS
from malmoi.serve.limits import Limits
from malmoi.serve.metrics import Metrics
from malmoi.serve.service.batching import Batcher, Job, OverloadedError, Ticket
from malmoi.serve.service.jobs import TransformerJob
from malmoi.serve.service.loaded_models import Models

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Result = TypeVar("Result")
SHORT = 64  # pieces that are run where they arrive, if nobody else is there: a few milliseconds
QUIET = 0.05  # seconds without anybody else
LONG = 20_000  # characters or numbers that take long enough that others would notice


class ClientDisconnected(Exception):
    """The client has left: nobody waits for an answer."""


@dataclass(eq=False)
class RequestContext:
    """One request: who it is, whether it is still there, and what it came to."""

    identity: str
    path: str
    client: Any  # the other end of its connection
    receive: Receive
    model: str = ""
    texts: int = 0
    tokens: int = 0
    truncated: int = 0
    zeros: int = 0  # texts without a single known word
    held: int = 0  # bytes of its body and of the numbers it asked for
    headers: dict[str, str] = field(default_factory=dict)

    async def left(self) -> None:
        """Wait until the client is gone."""
        while (await self.receive())["type"] != "http.disconnect":
            pass


class Service:
    """Takes work from requests to the workers, and answers back."""

    def __init__(
        self, models: Models, limits: Limits, *, truncate: bool = True, token_ids: bool = False
    ) -> None:
        self.models, self.limits = models, limits
        self.truncate, self.token_ids = truncate, token_ids
        self.measures, self.workers = Metrics(), THREADS
        self.ready = False
        self._known: set[TransformerJob] = (
            set()
        )  # have been run: to run them takes no longer than that
        self._last: TransformerJob | None = None  # what whoever is alone here has asked for
        self._held = 0  # bytes that all requests need that are here
        self._client: Any = None
        self._changed = 0.0  # when somebody else than before last asked
        self._futures: dict[Ticket, asyncio.Future[list[Any]]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self.batcher: Batcher | None = None

    def open(self) -> None:
        """Start the workers; called where the event loop runs."""
        self._loop = asyncio.get_running_loop()
        self.batcher = Batcher(
            self._deliver,
            workers=self.workers,
            budget=self.limits.batch,
            most_waiting=self.limits.waiting,
            observe=self.measures.batch_done,
        )
        self.measures.waiting = lambda: self.batcher.waiting if self.batcher else 0
        self.ready = True

    def is_full(self) -> bool:
        """Whether as much is waiting as may."""
        return self.batcher is not None and self.batcher.waiting >= self.limits.waiting

    def hold(self, visit: RequestContext, size: int) -> None:
        """Count bytes that a request needs while it is here; too many at once are refused."""
        if self._held > visit.held and self._held + size > self.limits.held:
            raise OverloadedError(1)
        self._held += size
        visit.held += size

    def release(self, visit: RequestContext) -> None:
        """Nothing of a request is here any more."""
        self._held -= visit.held
        visit.held = 0

    async def close(self) -> None:
        """Let the workers finish."""
        self.ready = False
        if self.batcher is not None:
            await asyncio.to_thread(self.batcher.close)

    def rouse(self, visit: RequestContext) -> None:
        """A request begins: if it will be like the one before, it needs all cores soon."""
        if self._last is not None and self._is_alone(visit):
            self._last.encoder.engine.wake_workers()

    async def ask(
        self, visit: RequestContext, work: Job, items: Sequence[Any], sizes: Sequence[int]
    ) -> list[Any]:
        """The answers of the workers, unless the client leaves first."""
        if not items:
            return []
        if self.batcher is None or self._loop is None:
            raise RuntimeError("the service is not open")
        if self._is_alone(visit) and work in self._known and sum(sizes) <= SHORT:
            answers = self.batcher.run_now(work, items, sizes)
            if answers is not None:
                self._last = work
                return _without_failure(answers)
        ticket = self.batcher.submit(work, items, sizes)
        answer: asyncio.Future[list[Any]] = self._loop.create_future()
        self._futures[ticket] = answer
        try:
            found = await unless_gone(visit, answer)
            if isinstance(work, TransformerJob):
                self._known.add(work)
            return found
        except (ClientDisconnected, asyncio.CancelledError):
            self.batcher.leave(ticket)
            raise
        finally:
            self._futures.pop(ticket, None)

    def _is_alone(self, visit: RequestContext) -> bool:
        """Whether all requests of late came over the same connection as this one."""
        now = perf_counter()
        if visit.client != self._client:
            self._client, self._changed = visit.client, now
        return now - self._changed > QUIET

    async def aside(
        self, visit: RequestContext, call: Callable[[], Result], size: int = LONG + 1
    ) -> Result:
        """The result of a call, in a thread if its size is such that others would have to wait.

        A client that leaves while it waits for a thread has nothing called.
        """
        if size <= LONG:
            return call()
        loop = asyncio.get_running_loop()
        return await unless_gone(visit, loop.run_in_executor(None, call))

    def _deliver(self, tickets: list[Ticket]) -> None:
        if tickets and self._loop is not None:
            self._loop.call_soon_threadsafe(self._settle, tickets)

    def _settle(self, tickets: list[Ticket]) -> None:
        for ticket in tickets:
            answer = self._futures.get(ticket)
            if answer is None or answer.done():
                continue
            if ticket.failure is not None:
                answer.set_exception(ticket.failure)
            else:
                answer.set_result(ticket.answers)


def _without_failure(answers: list[Any]) -> list[Any]:
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    return answers


async def unless_gone(visit: RequestContext, answer: asyncio.Future[Result]) -> Result:
    """What is awaited, unless the client leaves first."""
    leaving = asyncio.ensure_future(visit.left())
    leaving.add_done_callback(lambda _: answer.cancel())
    try:
        return await answer
    except asyncio.CancelledError:
        if leaving.done() and not leaving.cancelled():
            raise ClientDisconnected from None
        raise
    finally:
        leaving.cancel()
