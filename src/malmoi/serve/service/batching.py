"""Dynamic batching without a timer: an idle worker takes what is waiting in the queue.

Knows nothing of models or HTTP: a `Job` says which tasks may share a batch, and runs them.
Requests are ordered by start-time fair queueing (Goyal et al. 1996), so that a small request
never waits for the whole of a large one that came before it.
"""

from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Condition, Thread
from time import perf_counter
from typing import Any, Protocol

from malmoi.serve.service.errors import OverloadedError

MAX_CANDIDATES = 256  # tasks at the head of the queue among which similar lengths are chosen
MAX_LENGTH_RATIO = 4  # of a task to the first of its batch
SHORT_TASK_TOKENS = 16  # a shorter first task counts as this long
MIN_BATCH_TOKENS = 64  # fewer are not worth a core of their own
ALONE_AFTER = 0.05  # seconds without another request until one may use all cores
MAX_RETRY_AFTER = 60  # seconds


class Job(Protocol):
    """What a batch computes; tasks with equal jobs may share a batch."""

    def run(self, items: Sequence[Any], threads: int) -> Sequence[Any]:
        """Return one result per item; a result may be the exception of its item."""

    def __hash__(self) -> int: ...


@dataclass(eq=False)
class Ticket:
    """What one request waits for: one result per item, or the first failure."""

    results: list[Any]
    num_pending: int
    failure: Exception | None = None
    is_cancelled: bool = False
    batches: list[tuple[float, float]] = field(default_factory=list)  # start and end, if recorded


@dataclass(frozen=True, order=True)
class Task:
    """One item of a request; `start_tag` is its virtual start time in the fair queue."""

    start_tag: int
    sequence: int
    num_tokens: int = field(compare=False)
    item: Any = field(compare=False)
    ticket: Ticket = field(compare=False)
    index: int = field(compare=False)  # of the item in its request


@dataclass(frozen=True)
class Batch:
    """The tasks that one worker runs at once."""

    job: Job
    tasks: list[Task]
    threads: int

    @property
    def num_tokens(self) -> int:
        """The tokens of all its tasks."""
        return sum(task.num_tokens for task in self.tasks)


OnTicketsDone = Callable[[list[Ticket]], None]
OnBatch = Callable[[Batch, float], None]  # called with the batch and its seconds


class Batcher:
    """A queue and one worker thread per core; `on_done` is called with finished tickets."""

    def __init__(
        self,
        on_done: OnTicketsDone,
        *,
        workers: int,
        max_batch_tokens: int = 1024,
        max_waiting_tokens: int = 65_536,
        on_batch: OnBatch = lambda batch, seconds: None,
        records_times: bool = False,
    ) -> None:
        self._on_done, self._on_batch = on_done, on_batch
        self._num_workers, self._records_times = workers, records_times
        self._max_batch_tokens, self._max_waiting_tokens = max_batch_tokens, max_waiting_tokens
        self._queues: dict[Job, list[Task]] = {}  # each sorted by start tag
        self._changed = Condition()
        self._waiting_tokens = self._num_busy = self._sequence = 0
        self._virtual_time = 0  # the start tag of the task that was taken last
        self._shared_at = 0.0  # when a request last came while another was there
        self._tokens_per_second = 0.0  # of one worker, a moving average
        self._is_closing = False
        names = (f"malmoi-worker-{number}" for number in range(workers))
        self._threads = [Thread(target=self._worker_loop, name=name, daemon=True) for name in names]
        for thread in self._threads:
            thread.start()

    @property
    def waiting_tokens(self) -> int:
        """Tokens in the queue that no worker has taken yet."""
        return self._waiting_tokens

    def submit(self, job: Job, items: Sequence[Any], sizes: Sequence[int]) -> Ticket:
        """Queue items of these sizes in tokens; raise `OverloadedError` if the queue is full."""
        ticket, total = Ticket([None] * len(items), len(items)), sum(sizes)
        with self._changed:
            is_full = self._waiting_tokens + total > self._max_waiting_tokens
            if self._is_closing or (self._waiting_tokens and is_full):
                raise OverloadedError(self._retry_after())
            if self._num_busy or self._queues:
                self._shared_at = perf_counter()
            queue, start_tag = self._queues.setdefault(job, []), self._virtual_time
            for index, (item, size) in enumerate(zip(items, sizes, strict=True)):
                self._sequence += 1
                insort(queue, Task(start_tag, self._sequence, size, item, ticket, index))
                start_tag += size
            self._waiting_tokens += total
            self._changed.notify(len(items))
        return ticket

    def run_inline(self, job: Job, items: Sequence[Any], sizes: Sequence[int]) -> list[Any] | None:
        """Run items in the calling thread on all cores; `None` if any other work is there."""
        with self._changed:
            if self._num_busy or self._queues or self._is_closing:
                return None
            self._num_busy += 1
        ticket = Ticket([None] * len(items), len(items))
        sized = enumerate(zip(items, sizes, strict=True))
        tasks = [Task(0, index, size, item, ticket, index) for index, (item, size) in sized]
        batch, start = Batch(job, tasks, self._num_workers), perf_counter()
        results = run_isolated(job, items, batch.threads)
        seconds = perf_counter() - start
        with self._changed:
            self._num_busy -= 1
        self._on_batch(batch, seconds)
        return results

    def cancel(self, ticket: Ticket) -> None:
        """Drop the tasks of a ticket that no worker has taken yet."""
        with self._changed:
            ticket.is_cancelled = True
            self._drop_tasks(ticket)

    def close(self) -> None:
        """Reject new items, finish the queue and join the workers."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _worker_loop(self) -> None:
        while (batch := self._next_batch()) is not None:
            start = perf_counter()
            results = run_isolated(batch.job, [task.item for task in batch.tasks], batch.threads)
            seconds = perf_counter() - start
            if self._records_times:
                for ticket in {task.ticket for task in batch.tasks}:
                    ticket.batches.append((start, start + seconds))
            self._finish(batch, results, seconds)
            self._on_batch(batch, seconds)

    def _next_batch(self) -> Batch | None:
        with self._changed:
            while not self._queues:
                if self._is_closing:
                    return None
                self._changed.wait()
            job = min(self._queues, key=lambda job: self._queues[job][0])
            queue = self._queues[job]
            chosen = choose_batch(queue, self._batch_tokens(queue))
            self._virtual_time = max(self._virtual_time, queue[0].start_tag)
            self._remove(job, set(chosen))
            self._num_busy += 1
            is_alone = self._num_busy == 1 and not self._queues
            is_alone = is_alone and perf_counter() - self._shared_at > ALONE_AFTER
            return Batch(job, chosen, self._num_workers if is_alone else 1)

    def _batch_tokens(self, queue: list[Task]) -> int:
        """The size of the next batch in tokens; idle workers get equal shares of a short queue."""
        num_idle = self._num_workers - self._num_busy
        waiting = sum(task.num_tokens for task in queue[:MAX_CANDIDATES])
        return min(self._max_batch_tokens, max(MIN_BATCH_TOKENS, -(-waiting // num_idle)))

    def _remove(self, job: Job, removed: set[Task]) -> None:
        remaining = [task for task in self._queues[job] if task not in removed]
        self._waiting_tokens -= sum(task.num_tokens for task in removed)
        if remaining:
            self._queues[job] = remaining
        else:
            del self._queues[job]

    def _drop_tasks(self, ticket: Ticket) -> None:
        for job, queue in list(self._queues.items()):
            self._remove(job, {task for task in queue if task.ticket is ticket})

    def _finish(self, batch: Batch, results: Sequence[Any], seconds: float) -> None:
        done: dict[Ticket, None] = {}
        with self._changed:
            self._num_busy -= 1
            speed = batch.num_tokens / max(seconds, 1e-6)
            average = self._tokens_per_second
            self._tokens_per_second += (speed - average) / 8 if average else speed
            for task, result in zip(batch.tasks, results, strict=True):
                ticket = task.ticket
                if isinstance(result, Exception) and ticket.failure is None:
                    ticket.failure, ticket.num_pending = result, 0
                    self._drop_tasks(ticket)
                    done[ticket] = None
                elif ticket.failure is None:
                    ticket.results[task.index] = result
                    ticket.num_pending -= 1
                    if ticket.num_pending == 0:
                        done[ticket] = None
        self._on_done([ticket for ticket in done if not ticket.is_cancelled])

    def _retry_after(self) -> int:
        speed = self._tokens_per_second * self._num_workers
        return max(1, min(MAX_RETRY_AFTER, round(self._waiting_tokens / max(speed, 1.0))))


def choose_batch(queue: list[Task], max_tokens: int) -> list[Task]:
    """Choose the first task, and the candidates whose lengths are nearest to its own.

    No task is much longer than the first: a batch finishes as a whole, so a short task would wait.
    """
    first, candidates, chosen, total = queue[0], queue[:MAX_CANDIDATES], list[Task](), 0
    max_length = MAX_LENGTH_RATIO * max(first.num_tokens, SHORT_TASK_TOKENS)
    for task in sorted(candidates, key=lambda task: abs(task.num_tokens - first.num_tokens)):
        total += task.num_tokens
        if chosen and (total > max_tokens or task.num_tokens > max_length):
            break
        chosen.append(task)
    return chosen


def run_isolated(job: Job, items: Sequence[Any], threads: int) -> list[Any]:
    """Return one result per item; a batch that fails is halved until the failing items are alone.

    The result of a failing item is its exception.
    """
    try:
        return list(job.run(items, threads))
    except Exception as error:
        if len(items) == 1:
            return [error]
    middle = len(items) // 2
    return [
        result
        for half in (items[:middle], items[middle:])
        for result in run_isolated(job, half, threads)
    ]
