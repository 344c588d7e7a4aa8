"""RequestContext: one request on its way through the service, and what is counted of it."""

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

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

    async def wait_for_disconnect(self) -> None:
        """Return once the client has closed the connection."""
        while (await self.receive())["type"] != "http.disconnect":
            pass
