"""Loaders and servers that are killed (`kill -9`): committed texts stay, and the index answers."""

import random

import malmoi as mm
from malmoi.search import writer
from tests.postgres_server import PrivateServer
from tests.search.killing import killed
from tests.search.postgres.kills_itself import KillsItself
from tests.search.postgres.texts import BAG

ENTRIES = [mm.Entry(i, f"word{i} of text", {"even": i % 2 == 0}) for i in range(600)]


def load(url: str, batches: int) -> None:
    writer.COMMIT_EVERY, writer.BATCH_TEXTS = 0.0, 10  # in a process of its own
    mm.update_index(url, BAG, ENTRIES, reporter=KillsItself(batches))


def check(url: str) -> int:
    """How many texts there are; each of them must be whole and found."""
    index = mm.open_index(url, BAG)
    known = {entry.id: entry for entry in ENTRIES}
    stored = list(index.entries())
    assert all(known[entry.id] == entry for entry in stored)
    assert len(stored) == len(index) == len(index.vectors)
    assert index.state.vector_count == len(stored)
    for entry in stored[:: max(1, len(stored) // 5)]:
        for search in ({}, {"lexical": True}, {"hybrid": True}):
            assert index.search(entry.text, 1, **search)[0].id == entry.id  # type: ignore[arg-type]
    return len(stored)


def test_a_killed_loader_leaves_whole_commits_and_continues(url: str) -> None:
    chance, kept = random.Random(3), 0
    for _ in range(3):
        killed(lambda _: load(url, chance.randint(3, 15)), 0)
        count = check(url)
        assert count >= kept
        assert count % 10 == 0
        kept = count
    assert 0 < kept < len(ENTRIES)
    done = mm.update_index(url, BAG, ENTRIES)
    assert (done.unchanged, done.embedded) == (kept, len(ENTRIES) - kept)
    assert check(url) == len(ENTRIES)


def test_a_killed_server_keeps_what_was_committed(server: PrivateServer, url: str) -> None:
    index = mm.build_index(BAG, [entry.text for entry in ENTRIES[:50]], path=url,
                           fields=[entry.fields for entry in ENTRIES[:50]])  # fmt: skip
    server.kill()
    server.start()
    assert check(url) == 50
    assert index.search("word7", 1)[0].id == "7"  # with a new connection
    index.add([ENTRIES[50].text], ids=["50"], fields=[ENTRIES[50].fields])
    assert check(url) == 51
