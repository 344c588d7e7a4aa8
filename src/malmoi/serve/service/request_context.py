"""RequestContext: one request on its way through the service, and what is counted of it."""

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.reporting.reporter import InputStats, Reporter

ReceiveMessage = Callable[[], Awaitable[MutableMapping[str, Any]]]


class RequestReporter(Reporter):
    """Counts what happened to the texts of one request; their contents are never kept."""

    def __init__(self) -> None:
        self.truncated: list[int] = []  # indices of texts
        self.fragmented: list[int] = []  # texts whose words are mostly letters, bytes or unknown
        self.zero_vectors = 0  # texts without a known word

    def inputs(self, source: str, stats: InputStats) -> None:
        """Add the statistics of some texts of the request."""
        if isinstance(stats, TextStats):
            self.truncated += [number - 1 for number in stats.truncated]
            self.fragmented += [number - 1 for number in stats.fragmented]

    def count_zero_vectors(self, vectors: Float32Array) -> None:
        """Add the rows of `vectors` [texts, dim] that are zero."""
        self.zero_vectors += len(vectors) - int(np.count_nonzero(vectors.any(axis=1)))

    def warn(self, sentence: str) -> None:
        """Drop the warning: the client gets the counts."""


@dataclass(frozen=True)
class JobTimes:
    """When one job of a request was queued, first taken by a worker, and done.

    Times are those of `perf_counter`; `batches` is how many batches it was part of.
    """

    queued: float
    started: float
    ended: float
    batches: int
    num_tokens: int


class RequestTrace(Protocol):
    """Where the spans of one traced request go."""

    def add_job(self, times: JobTimes) -> None:
        """Add spans for the time in the queue and the time in the model."""

    def end(self, context: "RequestContext", route: str, status: int) -> None:
        """End the span of the request; the status is 0 if no answer was sent."""


@dataclass(eq=False)
class RequestContext:
    """One request: its id, its connection, and what it has used so far."""

    request_id: str
    path: str
    client: Any  # the address of the client
    receive: ReceiveMessage  # the next ASGI message of the connection
    model_name: str = ""
    num_texts: int = 0
    num_tokens: int = 0
    reserved_bytes: int = 0  # for its body and the vectors of its answer
    reporter: RequestReporter = field(default_factory=RequestReporter)
    route: str = ""  # the path of its endpoint
    trace: RequestTrace | None = None

    async def wait_for_disconnect(self) -> None:
        """Return once the client has closed the connection."""
        while (await self.receive())["type"] != "http.disconnect":
            pass
