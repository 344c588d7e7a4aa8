"""Some seconds of good and hostile traffic at once; `python -m bench soak` goes on for minutes."""

import asyncio

import pytest

SECONDS = 10


def test_no_good_request_is_lost_among_hostile_ones() -> None:
    soak = pytest.importorskip("bench.soak", reason="the bench is not part of the package")
    serving = pytest.importorskip("bench.serving")
    with serving.ours() as server:
        found = asyncio.run(soak.soak(server.address, server.process.pid, SECONDS))
    assert found.good > 0
    assert found.wrong == []
    assert found.faults == 0
    assert sum(found.statuses.values()) > 0
