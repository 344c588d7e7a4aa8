"""Work goes to workers in batches: what goes together, who comes first, who fails."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.serve.service.batching import (
    Batch,
    Batcher,
    Task,
    Ticket,
    choose_batch,
    run_isolated,
)
from malmoi.serve.service.errors import OverloadedError


@dataclass(frozen=True)
class Doubling:
    """Doubles numbers; keeps what was run together, and waits for the gate to be open."""

    gate: threading.Event = field(default_factory=threading.Event)
    batches: list[list[Any]] = field(default_factory=list, compare=False)
    name: str = ""

    def run(self, items: Sequence[Any], threads: int) -> list[Any]:
        assert self.gate.wait(120)
        self.batches.append(list(items))
        return [item * 2 if item >= 0 else ValueError(item) for item in items]


class Waiting:
    """Tickets as they are delivered."""

    def __init__(self) -> None:
        self.done: list[Ticket] = []
        self._changed = threading.Condition()

    def __call__(self, tickets: list[Ticket]) -> None:
        with self._changed:
            self.done += tickets
            self._changed.notify_all()

    def until(self, *tickets: Ticket) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: set(tickets) <= set(self.done), 120)


def until(condition: Callable[[], bool]) -> None:
    for _ in range(12_000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never came to that")


def busy(batcher: Batcher, work: Doubling, count: int = 1) -> list[Ticket]:
    """Keep so many workers busy until the gate is opened."""
    tickets = []
    for _ in range(count):
        tickets.append(batcher.submit(work, [0], [1]))
        until(lambda: batcher.waiting_tokens == 0)
    return tickets


def test_answers_come_in_the_order_of_the_items() -> None:
    waiting, work = Waiting(), Doubling()
    work.gate.set()
    batcher = Batcher(waiting, workers=2)
    tickets = [batcher.submit(work, [i, i + 1, i + 2], [5, 900, 1]) for i in range(20)]
    waiting.until(*tickets)
    assert [ticket.results for ticket in tickets] == [
        [2 * i, 2 * i + 2, 2 * i + 4] for i in range(20)
    ]
    batcher.close()


def test_what_waits_while_a_worker_is_busy_goes_together() -> None:
    waiting, work = Waiting(), Doubling()
    batcher = Batcher(waiting, workers=1)
    first = busy(batcher, work)
    rest = [batcher.submit(work, [number], [10]) for number in range(1, 9)]
    work.gate.set()
    waiting.until(*first, *rest)
    assert work.batches == [[0], [1, 2, 3, 4, 5, 6, 7, 8]]
    batcher.close()


def test_a_lone_request_has_all_cores_and_others_one_each() -> None:
    seen: list[int] = []
    waiting, work = Waiting(), Doubling()

    def on_batch(batch: Batch, seconds: float) -> None:
        seen.append(batch.threads)

    batcher = Batcher(waiting, workers=2, on_batch=on_batch)
    first = busy(batcher, work, 2)
    work.gate.set()
    waiting.until(*first)
    until(lambda: len(seen) == 2)
    assert sorted(seen) == [1, 2]
    batcher.close()


def test_idle_workers_share_what_is_there() -> None:
    waiting, work = Waiting(), Doubling()
    work.gate.set()
    batcher = Batcher(waiting, workers=2)
    waiting.until(batcher.submit(work, list(range(8)), [50] * 8))
    assert max(len(batch) for batch in work.batches) <= 4
    batcher.close()


def test_a_small_request_does_not_wait_for_the_whole_of_a_large_one() -> None:
    waiting, work = Waiting(), Doubling()
    batcher = Batcher(waiting, workers=1, max_batch_tokens=100)
    first = busy(batcher, work)
    large = batcher.submit(work, [1] * 50, [50] * 50)
    small = batcher.submit(work, [2], [50])
    work.gate.set()
    waiting.until(*first, large, small)
    place = next(i for i, batch in enumerate(work.batches) if 2 in batch)
    assert place <= 2
    batcher.close()


def test_works_that_differ_never_share_a_batch() -> None:
    gate = threading.Event()
    one, other = Doubling(gate, name="one"), Doubling(gate, name="other")
    waiting = Waiting()
    batcher = Batcher(waiting, workers=1)
    first = busy(batcher, one)
    tickets = [batcher.submit(work, [i], [1]) for i in range(1, 5) for work in (one, other)]
    gate.set()
    waiting.until(*first, *tickets)
    assert one.batches == [[0], [1, 2, 3, 4]]
    assert other.batches == [[1, 2, 3, 4]]
    batcher.close()


def test_one_bad_item_fails_its_own_request_alone() -> None:
    waiting, work = Waiting(), Doubling()
    batcher = Batcher(waiting, workers=1)
    first = busy(batcher, work)
    good = batcher.submit(work, [1, 2], [1, 1])
    bad = batcher.submit(work, [3, -4, 5], [1, 1, 1])
    other = batcher.submit(work, [6], [1])
    work.gate.set()
    waiting.until(*first, good, bad, other)
    assert (good.results, good.failure) == ([2, 4], None)
    assert (other.results, other.failure) == ([12], None)
    assert str(bad.failure) == "-4"
    batcher.close()


def test_work_of_a_client_that_left_is_never_begun() -> None:
    waiting, work = Waiting(), Doubling()
    batcher = Batcher(waiting, workers=1)
    first = busy(batcher, work)
    gone, stays = batcher.submit(work, [1, 2], [9, 9]), batcher.submit(work, [3], [5])
    batcher.cancel(gone)
    assert batcher.waiting_tokens == 5
    work.gate.set()
    waiting.until(*first, stays)
    assert work.batches == [[0], [3]]
    batcher.close()


def test_too_much_is_refused_at_once_and_a_first_request_never() -> None:
    waiting, work = Waiting(), Doubling()
    batcher = Batcher(waiting, workers=1, max_waiting_tokens=100)
    first = busy(batcher, work)
    large = batcher.submit(work, [1], [500])
    with pytest.raises(OverloadedError, match="try again in") as refused:
        batcher.submit(work, [2], [1])
    assert refused.value.retry_after >= 1
    work.gate.set()
    waiting.until(*first, large)
    waiting.until(batcher.submit(work, [2], [1]))
    batcher.close()


def test_closing_finishes_what_waits_and_takes_nothing_new() -> None:
    waiting, work = Waiting(), Doubling()
    batcher = Batcher(waiting, workers=2)
    tickets = [batcher.submit(work, [i], [1]) for i in range(50)]
    closing = threading.Thread(target=batcher.close)
    closing.start()
    until(lambda: batcher._is_closing)
    with pytest.raises(OverloadedError):
        batcher.submit(work, [1], [1])
    work.gate.set()
    closing.join(120)
    assert set(waiting.done) == set(tickets)


@given(st.lists(st.integers(1, 600), min_size=1, max_size=60), st.integers(1, 2000))
def test_a_batch_holds_the_first_and_keeps_to_the_budget(sizes: list[int], budget: int) -> None:
    ticket = Ticket([], 0)
    tasks = [Task(0, i, size, None, ticket, i) for i, size in enumerate(sizes)]
    chosen = choose_batch(tasks, budget)
    assert tasks[0] in chosen
    assert len(set(chosen)) == len(chosen)
    assert len(chosen) == 1 or sum(task.num_tokens for task in chosen) <= budget
    farthest = max(abs(task.num_tokens - sizes[0]) for task in chosen)
    left = [task for task in tasks if task not in chosen]
    assert all(abs(task.num_tokens - sizes[0]) >= farthest for task in left)


def test_a_short_text_does_not_wait_for_long_ones_in_its_batch() -> None:
    sizes = [5, 150, 150, 7, 60, 150]
    tasks = [Task(0, i, size, None, Ticket([], 0), i) for i, size in enumerate(sizes)]
    assert [task.num_tokens for task in choose_batch(tasks, 1024)] == [5, 7, 60]
    assert [task.num_tokens for task in choose_batch(tasks[1:], 1024)] == [150, 150, 150, 60, 7]


@dataclass(frozen=True)
class Choking:
    """Fails as a whole if any item is bad."""

    def run(self, items: Sequence[int], threads: int) -> list[int]:
        if any(item < 0 for item in items):
            raise ValueError("bad")
        return [item + 1 for item in items]


@given(st.lists(st.integers(-3, 9), min_size=1, max_size=40))
def test_halving_finds_exactly_the_items_at_fault(items: list[int]) -> None:
    found = run_isolated(Choking(), items, 1)
    for item, answer in zip(items, found, strict=True):
        assert isinstance(answer, ValueError) if item < 0 else answer == item + 1


def test_whoever_is_alone_is_answered_at_once() -> None:
    waiting, work = Waiting(), Doubling()
    batcher = Batcher(waiting, workers=2)
    first = busy(batcher, work)
    assert batcher.run_inline(work, [1], [1]) is None
    work.gate.set()
    waiting.until(*first)
    until(lambda: batcher.run_inline(work, [1, -1], [1, 1]) is not None)
    found = batcher.run_inline(work, [3, -4], [1, 1])
    assert found is not None
    assert found[0] == 6
    assert isinstance(found[1], ValueError)
    batcher.close()
