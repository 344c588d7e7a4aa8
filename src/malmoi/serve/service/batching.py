"""The work of many requests in batches, without a timer: a free worker takes what is waiting.

Knows nothing of models or HTTP: a `Job` says which tasks may go together, and runs them.
Requests take turns by what they have had already (start-time fair queueing, Goyal et al. 1996),
so that a small one never waits for the whole of a large one that came before.
"""

from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Condition, Thread
from time import perf_counter
from typing import Any, Protocol

from malmoi.errors import MalmoiError

LOOKED_AT = 256  # tasks among which those of like size are found
LIKE, SMALL = 4, 16  # times as large as the first of a batch; one that has fewer counts as this
LEAST_SHARE = 64  # pieces that are worth a core of their own
QUIET = 0.05  # seconds without company after which a request counts as alone
LONGEST_WAIT = 60  # seconds that anybody is told to wait


class Job(Protocol):
    """What is asked of every task of a batch; tasks go together whose works are equal."""

    def run(self, items: Sequence[Any], threads: int) -> Sequence[Any]:
        """An answer an item; one that failed may be an exception instead."""

    def __hash__(self) -> int: ...


class OverloadedError(MalmoiError):
    """More work is waiting than may; `retry_after` is in seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"too much is waiting already: try again in {retry_after} s")
        self.retry_after = retry_after


@dataclass(eq=False)
class Ticket:
    """What one request waits for: an answer an item, or the first thing that went wrong."""

    answers: list[Any]
    missing: int
    failure: Exception | None = None
    left: bool = False  # nobody waits any more


@dataclass(frozen=True, order=True)
class Task:
    """One item of a request; `turn` is when it is due."""

    turn: int
    number: int
    size: int = field(compare=False)
    item: Any = field(compare=False)
    ticket: Ticket = field(compare=False)
    place: int = field(compare=False)


@dataclass(frozen=True)
class Batch:
    """What one worker runs at once."""

    work: Job
    tasks: list[Task]
    threads: int

    @property
    def size(self) -> int:
        """Its pieces."""
        return sum(task.size for task in self.tasks)


Deliver = Callable[[list[Ticket]], None]
Observe = Callable[[Batch, float], None]


class Batcher:
    """Workers, one a core, and what waits for them; `deliver` gets tickets that are done."""

    def __init__(
        self,
        deliver: Deliver,
        *,
        workers: int,
        budget: int = 1024,
        most_waiting: int = 65536,
        observe: Observe = lambda batch, seconds: None,
    ) -> None:
        self._deliver, self._observe = deliver, observe
        self._workers, self._budget, self._most = workers, budget, most_waiting
        self._waiting: dict[Job, list[Task]] = {}  # each in the order of turns
        self._changed = Condition()
        self._size = self._busy = self._turn = self._numbers = 0
        self._company = 0.0  # when somebody last came while others were there
        self._rate = 0.0  # pieces a second and worker, of late
        self._closing = False
        names = (f"malmoi-worker-{number}" for number in range(workers))
        self._threads = [Thread(target=self._labour, name=name, daemon=True) for name in names]
        for thread in self._threads:
            thread.start()

    @property
    def waiting(self) -> int:
        """Pieces that no worker has taken yet."""
        return self._size

    def submit(self, work: Job, items: Sequence[Any], sizes: Sequence[int]) -> Ticket:
        """Let items wait for a worker, or refuse them at once."""
        ticket, total = Ticket([None] * len(items), len(items)), sum(sizes)
        with self._changed:
            if self._closing or (self._size and self._size + total > self._most):
                raise OverloadedError(self._retry_after())
            if self._busy or self._waiting:
                self._company = perf_counter()
            waiting, turn = self._waiting.setdefault(work, []), self._turn
            for place, (item, size) in enumerate(zip(items, sizes, strict=True)):
                self._numbers += 1
                insort(waiting, Task(turn, self._numbers, size, item, ticket, place))
                turn += size
            self._size += total
            self._changed.notify(len(items))
        return ticket

    def run_now(self, work: Job, items: Sequence[Any], sizes: Sequence[int]) -> list[Any] | None:
        """The answers at once, on all cores, by whoever calls; `None` if anybody else is there."""
        with self._changed:
            if self._busy or self._waiting or self._closing:
                return None
            self._busy += 1
        ticket = Ticket([None] * len(items), len(items))
        each = enumerate(zip(items, sizes, strict=True))
        tasks = [Task(0, place, size, item, ticket, place) for place, (item, size) in each]
        batch, begun = Batch(work, tasks, self._workers), perf_counter()
        answers = run_apart(work, items, batch.threads)
        seconds = perf_counter() - begun
        with self._changed:
            self._busy -= 1
        self._observe(batch, seconds)
        return answers

    def leave(self, ticket: Ticket) -> None:
        """Nobody waits for this any more: what is not begun never is."""
        with self._changed:
            ticket.left = True
            self._forget(ticket)

    def close(self) -> None:
        """Finish what is waiting, take nothing new."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _labour(self) -> None:
        while (batch := self._take()) is not None:
            begun = perf_counter()
            answers = run_apart(batch.work, [task.item for task in batch.tasks], batch.threads)
            seconds = perf_counter() - begun
            self._finish(batch, answers, seconds)
            self._observe(batch, seconds)

    def _take(self) -> Batch | None:
        with self._changed:
            while not self._waiting:
                if self._closing:
                    return None
                self._changed.wait()
            work = min(self._waiting, key=lambda work: self._waiting[work][0])
            waiting = self._waiting[work]
            chosen = choose(waiting, self._share(waiting))
            self._turn = max(self._turn, waiting[0].turn)
            self._remove(work, set(chosen))
            self._busy += 1
            alone = self._busy == 1 and not self._waiting
            alone = alone and perf_counter() - self._company > QUIET
            return Batch(work, chosen, self._workers if alone else 1)

    def _share(self, waiting: list[Task]) -> int:
        """How many pieces one worker takes, so that those who are idle too have their part."""
        idle = self._workers - self._busy
        size = sum(task.size for task in waiting[:LOOKED_AT])
        return min(self._budget, max(LEAST_SHARE, -(-size // idle)))

    def _remove(self, work: Job, taken: set[Task]) -> None:
        left = [task for task in self._waiting[work] if task not in taken]
        self._size -= sum(task.size for task in taken)
        if left:
            self._waiting[work] = left
        else:
            del self._waiting[work]

    def _forget(self, ticket: Ticket) -> None:
        for work, waiting in list(self._waiting.items()):
            self._remove(work, {task for task in waiting if task.ticket is ticket})

    def _finish(self, batch: Batch, answers: Sequence[Any], seconds: float) -> None:
        done: dict[Ticket, None] = {}
        with self._changed:
            self._busy -= 1
            rate = batch.size / max(seconds, 1e-6)
            self._rate += (rate - self._rate) / 8 if self._rate else rate
            for task, answer in zip(batch.tasks, answers, strict=True):
                ticket = task.ticket
                if isinstance(answer, Exception) and ticket.failure is None:
                    ticket.failure, ticket.missing = answer, 0
                    self._forget(ticket)
                    done[ticket] = None
                elif ticket.failure is None:
                    ticket.answers[task.place] = answer
                    ticket.missing -= 1
                    if ticket.missing == 0:
                        done[ticket] = None
        self._deliver([ticket for ticket in done if not ticket.left])

    def _retry_after(self) -> int:
        seconds = self._size / max(self._rate * self._workers, 1.0)
        return max(1, min(LONGEST_WAIT, round(seconds)))


def choose(waiting: list[Task], budget: int) -> list[Task]:
    """The first in turn, and with it those of the next whose sizes are nearest to its own.

    None is much larger: all of a batch are answered when it is done, and a short one would wait.
    """
    first, near, chosen, total = waiting[0], waiting[:LOOKED_AT], list[Task](), 0
    most = LIKE * max(first.size, SMALL)
    for task in sorted(near, key=lambda task: abs(task.size - first.size)):
        total += task.size
        if chosen and (total > budget or task.size > most):
            break
        chosen.append(task)
    return chosen


def run_apart(work: Job, items: Sequence[Any], threads: int) -> list[Any]:
    """An answer an item; of a batch that fails the halves are tried, until one item is at fault."""
    try:
        return list(work.run(items, threads))
    except Exception as error:
        if len(items) == 1:
            return [error]
    middle = len(items) // 2
    return [
        answer
        for half in (items[:middle], items[middle:])
        for answer in run_apart(work, half, threads)
    ]
