"""What the server counts of itself, in the text format of Prometheus (version 0.0.4)."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock

from malmoi.serve.service.batching import Batch

SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
TEXTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PIECES = (16, 32, 64, 128, 256, 512, 1024, 2048)


@dataclass
class Histogram:
    """How many values were at most so large, and their sum."""

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
        """What Prometheus reads."""
        seen, inside = 0, f"{labels}," if labels else ""
        for bound, count in zip((*map(str, self.bounds), "+Inf"), self.counts, strict=True):
            seen += count
            yield f'{name}_bucket{{{inside}le="{bound}"}} {seen}'
        around = f"{{{labels}}}" if labels else ""
        yield f"{name}_sum{around} {self.total}"
        yield f"{name}_count{around} {seen}"


class Metrics:
    """Counts since the server began."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()  # by path and status
        self.durations: dict[str, Histogram] = {}
        self.texts: Counter[str] = Counter()  # by model
        self.tokens: Counter[str] = Counter()
        self.truncated: Counter[str] = Counter()
        self.zeros: Counter[str] = Counter()
        self.left = 0
        self.batch_texts, self.batch_pieces = Histogram(TEXTS), Histogram(PIECES)
        self.batch_seconds = Histogram(SECONDS)
        self.waiting: Callable[[], int] = lambda: 0
        self._lock = Lock()

    def request_done(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests[path, status] += 1
        self.durations.setdefault(path, Histogram(SECONDS)).add(seconds)

    def batch_done(self, batch: Batch, seconds: float) -> None:
        """Count a batch; called by workers."""
        with self._lock:
            self.batch_texts.add(len(batch.tasks))
            self.batch_pieces.add(batch.size)
            self.batch_seconds.add(seconds)

    def lines(self) -> Iterator[str]:
        """All of it, a line a number."""
        yield from _head("malmoi_requests_total", "counter", "Requests by path and status.")
        for (path, status), count in sorted(self.requests.items()):
            yield f'malmoi_requests_total{{path="{path}",status="{status}"}} {count}'
        yield from _head("malmoi_request_seconds", "histogram", "How long requests took.")
        for path, histogram in sorted(self.durations.items()):
            yield from histogram.lines("malmoi_request_seconds", f'path="{path}"')
        for name, counts, what in (
            ("malmoi_texts_total", self.texts, "Texts embedded, by model."),
            ("malmoi_tokens_total", self.tokens, "Pieces of texts, by model."),
            ("malmoi_truncated_texts_total", self.truncated, "Texts that were cut off, by model."),
            ("malmoi_zero_vectors_total", self.zeros, "Texts without a known word, by model."),
        ):
            yield from _head(name, "counter", what)
            yield from (f'{name}{{model="{_escaped(m)}"}} {n}' for m, n in sorted(counts.items()))
        for name, histogram, what in (
            ("malmoi_batch_texts", self.batch_texts, "Texts or questions in a batch."),
            ("malmoi_batch_pieces", self.batch_pieces, "Pieces in a batch."),
            ("malmoi_batch_seconds", self.batch_seconds, "How long batches took."),
        ):
            yield from _head(name, "histogram", what)
            yield from histogram.lines(name)
        yield from _head("malmoi_left_total", "counter", "Clients gone before their answer.")
        yield f"malmoi_left_total {self.left}"
        yield from _head("malmoi_waiting_pieces", "gauge", "Pieces that wait for a worker.")
        yield f"malmoi_waiting_pieces {self.waiting()}"


def _head(name: str, kind: str, what: str) -> Iterable[str]:
    return (f"# HELP {name} {what}", f"# TYPE {name} {kind}")


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
