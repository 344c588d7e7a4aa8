"""Service: what all requests share. It admits them, runs their jobs, and returns the results."""

import asyncio
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Protocol, TypeVar

from malmoi.kernels.threads import THREADS
from malmoi.serve.limits import Limits
from malmoi.serve.service.batching import Batch, Batcher, Job, Ticket
from malmoi.serve.service.errors import ClientDisconnectedError, OverloadedError
from malmoi.serve.service.jobs import TransformerJob
from malmoi.serve.service.loaded_models import Models
from malmoi.serve.service.request_context import JobTimes, RequestContext

Result = TypeVar("Result")
MAX_INLINE_TOKENS = 64  # run on the event loop if no other request is there: a few milliseconds
ALONE_AFTER = 0.05  # seconds without a request of another connection
OFFLOAD_ABOVE = 20_000  # characters or numbers: beyond it, other requests would wait


class ServiceMetrics(Protocol):
    """Where the service counts batches, and what its status pages show."""

    @property
    def num_requests(self) -> int:
        """Requests since the server started."""

    def batch_done(self, batch: Batch, seconds: float) -> None:
        """Count a batch; worker threads call this."""

    def render(self, waiting_tokens: int) -> str:
        """All metrics in the text format of Prometheus."""


class Service:
    """Passes jobs from requests to the workers, and their results back."""

    def __init__(
        self,
        models: Models,
        limits: Limits,
        metrics: ServiceMetrics,
        *,
        truncate: bool = True,
        allow_token_ids: bool = False,
        is_traced: bool = False,
    ) -> None:
        self.models, self.limits, self.metrics = models, limits, metrics
        self.truncate, self.allow_token_ids = truncate, allow_token_ids
        self.workers, self._is_traced = THREADS, is_traced
        self.ready = False
        self._warm_jobs: set[TransformerJob] = set()  # have run before: their graphs are open
        self._last_job: TransformerJob | None = None  # of the only connection of late
        self._reserved_bytes = 0  # by all requests in flight
        self._last_client: Any = None
        self._client_changed_at = 0.0
        self._futures: dict[Ticket, asyncio.Future[list[Any]]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self.batcher: Batcher | None = None

    def open(self) -> None:
        """Start the workers; call it from the event loop."""
        self._loop = asyncio.get_running_loop()
        self.batcher = Batcher(
            self._on_tickets_done,
            workers=self.workers,
            max_batch_tokens=self.limits.max_batch_tokens,
            max_waiting_tokens=self.limits.max_waiting_tokens,
            on_batch=self.metrics.batch_done,
            records_times=self._is_traced,
        )
        self.ready = True

    async def close(self) -> None:
        """Finish the queue and stop the workers."""
        self.ready = False
        if self.batcher is not None:
            await asyncio.to_thread(self.batcher.close)

    @property
    def waiting_tokens(self) -> int:
        """Tokens in the queue."""
        return self.batcher.waiting_tokens if self.batcher else 0

    def is_full(self) -> bool:
        """Whether the queue has reached its limit."""
        return self.waiting_tokens >= self.limits.max_waiting_tokens

    def reserve_memory(self, context: RequestContext, num_bytes: int) -> None:
        """Admit bytes of a request; raise `OverloadedError` if all requests need too many.

        A request that is alone is always admitted.
        """
        is_shared = self._reserved_bytes > context.reserved_bytes
        if is_shared and self._reserved_bytes + num_bytes > self.limits.max_memory_bytes:
            raise OverloadedError(1)
        self._reserved_bytes += num_bytes
        context.reserved_bytes += num_bytes

    def release_memory(self, context: RequestContext) -> None:
        """Give back what a request has reserved."""
        self._reserved_bytes -= context.reserved_bytes
        context.reserved_bytes = 0

    def wake_engine(self, context: RequestContext) -> None:
        """Wake the worker threads of the model that a lone connection has used before."""
        if self._last_job is not None and self._is_alone(context):
            self._last_job.encoder.engine.wake_workers()

    async def run_job(
        self, context: RequestContext, job: Job, items: Sequence[Any], sizes: Sequence[int]
    ) -> list[Any]:
        """Return one result per item; `sizes` are in tokens.

        Raises:
            OverloadedError: The queue is full.
            ClientDisconnectedError: The client left; its tasks are cancelled.
        """
        if not items:
            return []
        if self.batcher is None or self._loop is None:
            raise RuntimeError("the service is not open")
        is_short, queued = sum(sizes) <= MAX_INLINE_TOKENS, perf_counter()
        if self._is_alone(context) and job in self._warm_jobs and is_short:
            results = self.batcher.run_inline(job, items, sizes)
            if results is not None:
                self._last_job = job
                if context.trace is not None:
                    times = JobTimes(queued, queued, perf_counter(), 1, sum(sizes))
                    context.trace.add_job(times)
                return _raise_failure(results)
        ticket = self.batcher.submit(job, items, sizes)
        future: asyncio.Future[list[Any]] = self._loop.create_future()
        self._futures[ticket] = future
        try:
            results = await unless_disconnected(context, future)
            if isinstance(job, TransformerJob):
                self._warm_jobs.add(job)
            return results
        except (ClientDisconnectedError, asyncio.CancelledError):
            self.batcher.cancel(ticket)
            raise
        finally:
            self._futures.pop(ticket, None)
            if context.trace is not None:
                context.trace.add_job(job_times(ticket, queued, sum(sizes)))

    def _is_alone(self, context: RequestContext) -> bool:
        """Whether all recent requests came over the connection of this one."""
        now = perf_counter()
        if context.client != self._last_client:
            self._last_client, self._client_changed_at = context.client, now
        return now - self._client_changed_at > ALONE_AFTER

    async def offload_if_large(
        self, context: RequestContext, call: Callable[[], Result], size: int = OFFLOAD_ABOVE + 1
    ) -> Result:
        """Call a function; in a thread if its `size` would block the event loop for long.

        If the client disconnects while the call waits for a thread, it never runs.
        """
        if size <= OFFLOAD_ABOVE:
            return call()
        loop = asyncio.get_running_loop()
        return await unless_disconnected(context, loop.run_in_executor(None, call))

    def _on_tickets_done(self, tickets: list[Ticket]) -> None:
        if tickets and self._loop is not None:
            self._loop.call_soon_threadsafe(self._resolve_futures, tickets)

    def _resolve_futures(self, tickets: list[Ticket]) -> None:
        for ticket in tickets:
            future = self._futures.get(ticket)
            if future is None or future.done():
                continue
            if ticket.failure is not None:
                future.set_exception(ticket.failure)
            else:
                future.set_result(ticket.results)


def job_times(ticket: Ticket, queued: float, num_tokens: int) -> JobTimes:
    """The times of a job that is done, or that its client has left."""
    batches = list(ticket.batches)
    started = min((start for start, _ in batches), default=perf_counter())
    ended = max((end for _, end in batches), default=started)
    return JobTimes(queued, started, ended, len(batches), num_tokens)


def _raise_failure(results: list[Any]) -> list[Any]:
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


async def unless_disconnected(context: RequestContext, future: asyncio.Future[Result]) -> Result:
    """Await a future; raise `ClientDisconnectedError` if the client disconnects first."""
    disconnect = asyncio.ensure_future(context.wait_for_disconnect())
    disconnect.add_done_callback(lambda _: future.cancel())
    try:
        return await future
    except asyncio.CancelledError:
        if disconnect.done() and not disconnect.cancelled():
            raise ClientDisconnectedError from None
        raise
    finally:
        disconnect.cancel()
