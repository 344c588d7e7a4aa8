"""Blocks in order, and nothing at work any more when nobody asks further."""

import time
from contextlib import closing

import pytest

from malmoi.text.parallel import in_order


@pytest.mark.parametrize("threads", [1, 2, 50])
def test_results_come_in_order(threads: int) -> None:
    assert list(in_order(lambda i: i * i, range(40), threads)) == [i * i for i in range(40)]
    assert list(in_order(lambda i: i * i, [], threads)) == []


def test_whoever_stops_early_leaves_nothing_at_work() -> None:
    begun, ended = list[int](), list[int]()

    def work(block: int) -> int:
        begun.append(block)
        time.sleep(0.01)
        ended.append(block)
        return block

    with closing(in_order(work, range(100), 2)) as results:
        next(results)
    assert sorted(begun) == sorted(ended)
    assert len(begun) < 100


def test_an_error_leaves_nothing_at_work() -> None:
    ended = list[int]()

    def work(block: int) -> None:
        time.sleep(0.05)
        ended.append(block)
        if block == 0:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(in_order(work, range(2), 2))
    before = len(ended)
    time.sleep(0.1)
    assert len(ended) == before
