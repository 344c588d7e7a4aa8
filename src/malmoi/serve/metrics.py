"""Metrics of the server in the text format of Prometheus (version 0.0.4)."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock

from malmoi.serve.service.batching import Batch
from malmoi.serve.service.request_context import RequestContext

SECONDS_BOUNDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
TEXTS_BOUNDS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
TOKENS_BOUNDS = (16, 32, 64, 128, 256, 512, 1024, 2048)


@dataclass
class Histogram:
    """Counts of values by upper bound, and their sum."""

    bounds: Sequence[float]
    counts: list[int] = field(init=False)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.bounds) + 1)

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str, labels: str = "") -> Iterator[str]:
        """The buckets, sum and count of the histogram, one line each."""
        cumulative, prefix = 0, f"{labels}," if labels else ""
        for bound, count in zip((*map(str, self.bounds), "+Inf"), self.counts, strict=True):
            cumulative += count
            yield f'{name}_bucket{{{prefix}le="{bound}"}} {cumulative}'
        suffix = f"{{{labels}}}" if labels else ""
        yield f"{name}_sum{suffix} {self.total}"
        yield f"{name}_count{suffix} {cumulative}"


class Metrics:
    """Counters and histograms since the server started."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()  # by path and status
        self._request_seconds: dict[str, Histogram] = {}  # by path
        self._texts: Counter[str] = Counter()  # by model, and so the next three
        self._tokens: Counter[str] = Counter()
        self._truncated: Counter[str] = Counter()
        self._zero_vectors: Counter[str] = Counter()
        self._client_disconnects = 0
        self._batch_texts, self._batch_tokens = Histogram(TEXTS_BOUNDS), Histogram(TOKENS_BOUNDS)
        self._batch_seconds = Histogram(SECONDS_BOUNDS)
        self._lock = Lock()

    @property
    def num_requests(self) -> int:
        """Requests since the server started."""
        return sum(self._requests.values())

    def request_done(self, context: RequestContext, path: str, status: int, seconds: float) -> None:
        """Count a request and its texts."""
        self._requests[path, status] += 1
        self._request_seconds.setdefault(path, Histogram(SECONDS_BOUNDS)).add(seconds)
        if context.num_texts:
            model = context.model_name
            self._texts[model] += context.num_texts
            self._tokens[model] += context.num_tokens
            self._truncated[model] += len(context.reporter.truncated)
            self._zero_vectors[model] += context.reporter.zero_vectors

    def client_disconnected(self) -> None:
        """Count a client that disconnected before its answer."""
        self._client_disconnects += 1

    def batch_done(self, batch: Batch, seconds: float) -> None:
        """Count a batch; worker threads call this."""
        with self._lock:
            self._batch_texts.add(len(batch.tasks))
            self._batch_tokens.add(batch.num_tokens)
            self._batch_seconds.add(seconds)

    def render(self, waiting_tokens: int) -> str:
        """All metrics, one line per value."""
        return "\n".join(self._lines(waiting_tokens)) + "\n"

    def _lines(self, waiting_tokens: int) -> Iterator[str]:
        yield from _header("malmoi_requests_total", "counter", "Requests by path and status.")
        for (path, status), count in sorted(self._requests.items()):
            yield f'malmoi_requests_total{{path="{path}",status="{status}"}} {count}'
        yield from _header("malmoi_request_seconds", "histogram", "Duration of requests by path.")
        for path, histogram in sorted(self._request_seconds.items()):
            yield from histogram.lines("malmoi_request_seconds", f'path="{path}"')
        for name, counts, help_text in (
            ("malmoi_texts_total", self._texts, "Embedded or classified texts by model."),
            ("malmoi_tokens_total", self._tokens, "Tokens of these texts by model."),
            ("malmoi_truncated_texts_total", self._truncated, "Truncated texts by model."),
            ("malmoi_zero_vectors_total", self._zero_vectors, "Texts without a known word."),
        ):
            yield from _header(name, "counter", help_text)
            yield from (f'{name}{{model="{_escape(m)}"}} {n}' for m, n in sorted(counts.items()))
        for name, histogram, help_text in (
            ("malmoi_batch_texts", self._batch_texts, "Texts or queries per batch."),
            ("malmoi_batch_tokens", self._batch_tokens, "Tokens per batch."),
            ("malmoi_batch_seconds", self._batch_seconds, "Duration of batches."),
        ):
            yield from _header(name, "histogram", help_text)
            yield from histogram.lines(name)
        name = "malmoi_client_disconnects_total"
        yield from _header(name, "counter", "Clients that disconnected before their answer.")
        yield f"{name} {self._client_disconnects}"
        yield from _header("malmoi_waiting_tokens", "gauge", "Tokens waiting for a worker.")
        yield f"malmoi_waiting_tokens {waiting_tokens}"


def _header(name: str, kind: str, help_text: str) -> tuple[str, str]:
    return f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"


def _escape(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
