"""How long co-occurrences take to count beside SciPy, Polars and DuckDB, and in what memory.

The peers are given one side of the window as pairs of ids and sum them as they do best; making
the pairs and adding the other side is part of their time. What they give need not be sorted.
"""

import gzip
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.data import Data
from bench.measure import MILLION, ROOT, Figure, best_of, faster, megabytes, say, seconds
from bench.probe import memory_field
from malmoi.arrays import Float64Array, Int64Array, UInt32Array
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.text.encoded import EncodedCorpus
from malmoi.train.counts.cooccurrence import Cooccurrence, count_cooccurrences
from malmoi.vocabulary import Vocabulary

CORPUS = Path(os.environ.get("MALMOI_DATA", ROOT.parent / "shared" / "data")) / "corpora"
MIN_COUNT, WINDOW = 5, 10
ROUNDS, ASKED, LIMIT = 2, 2, 1e-6
MEMORY = 256  # megabytes; the counts themselves take more
SMALL = 100_000  # ids in the stream that only warms things up

Counted = Callable[[], tuple[Int64Array, Float64Array]]  # called when time is no longer taken
Count = Callable[[UInt32Array, Vocabulary], Counted]


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part; none where the corpus is not there."""
    source = CORPUS / "enwiki.txt.gz"
    if not source.is_file():
        say(f"no {source} (set MALMOI_DATA): counting is left out")
        return
    ids, vocabulary = encoded(source)
    counted: dict[str, Counted] = {}
    yield speed(ids, vocabulary, counted)
    pairs, values = counted.pop("malmoi")()
    for name, peer in counted.items():
        yield same(name, pairs, values, peer)
    yield memory(data.folder, ids, vocabulary, len(pairs))


def encoded(source: Path) -> tuple[UInt32Array, Vocabulary]:
    """The words between white space as ids, by plain Python."""
    say("ids of enwiki")
    lines = [line.split() for line in gzip.decompress(source.read_bytes()).decode().split("\n")]
    counts = Counter(word for line in lines for word in line)
    vocabulary = Vocabulary.of(counts, min_count=MIN_COUNT)
    ids = vocabulary.word_index(start=0) | {"\n": LINE_END}
    stream = (ids.get(word, UNKNOWN) for line in lines for word in (*line, "\n"))
    return np.fromiter(stream, dtype=np.uint32), vocabulary


def speed(ids: UInt32Array, vocabulary: Vocabulary, counted: dict[str, Counted]) -> Figure:
    """How much faster than the best of the peers; their counts are kept."""
    programs: dict[str, Count] = {
        "malmoi": count_ours,
        "SciPy": count_scipy,
        "Polars": count_polars,
        "DuckDB": count_duckdb,
    }

    def keep(name: str) -> None:
        counted[name] = programs[name](ids, vocabulary)

    for count in programs.values():
        count(ids[:SMALL], vocabulary)
    say(f"co-occurrences, {ROUNDS} rounds of {', '.join(programs)}")
    ours, *peers = best_of(ROUNDS, *(partial(keep, name) for name in programs))
    named = zip(list(programs)[1:], peers, strict=True)
    remark = "Co-occurrences: " + ", ".join(f"{name} {seconds(time)}" for name, time in named)
    return faster(f"enwiki, window {WINDOW}", ours, min(peers), ASKED, f"{remark}.")


def same(name: str, pairs: Int64Array, values: Float64Array, peer: Counted) -> Figure:
    """Whether a peer has the same pairs, and how far its numbers are off, relatively."""
    theirs, numbers = peer()
    order = np.argsort(theirs)
    alike = np.array_equal(pairs, theirs[order])
    off = float(np.max(np.abs(values / numbers[order] - 1))) if alike else np.inf
    return Figure(
        name="  its counts",
        ours=f"{len(pairs) / MILLION:.1f} M",
        peer=name,
        off=off,
        asked="≤ 1e-6",
        met=off <= LIMIT,
    )


def memory(folder: Path, ids: UInt32Array, vocabulary: Vocabulary, pairs: int) -> Figure:
    """How far memory grows in a fresh process that is allowed less than the counts take."""
    say("memory of co-occurrences")
    np.save(folder / "ids.npy", ids)
    np.save(folder / "counts.npy", vocabulary.counts)
    command = [sys.executable, "-m", "bench.counting", str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    grown = int(done.stdout)
    return Figure(
        name="  its peak memory",
        ours=megabytes(grown),
        asked=f"≤ {MEMORY} MB",
        met=grown <= MEMORY * MILLION,
        remark=f"Allowed {MEMORY} MB for counts that take {megabytes(8 * pairs)}; the stream's"
        " mapped pages are in the peak.",
    )


def print_growth(folder: Path) -> None:
    """By how much memory grows at its peak, in bytes; a short stream is counted before."""
    ids = np.load(folder / "ids.npy", mmap_mode="r")
    counts = np.load(folder / "counts.npy")
    vocabulary = Vocabulary.of({f"{i:06}": count for i, count in enumerate(counts.tolist())})
    settings = Cooccurrence(window=WINDOW, memory_mb=MEMORY)
    count_cooccurrences(EncodedCorpus(ids[:SMALL], vocabulary), settings)
    before = memory_field("status", "VmRSS")
    with suppress(OSError):  # where that is not allowed, the peak can only show as higher
        Path("/proc/self/clear_refs").write_text("5")
    held = count_cooccurrences(EncodedCorpus(ids, vocabulary), settings)
    print(memory_field("status", "VmHWM") - before, flush=True)
    del held


def count_ours(ids: UInt32Array, vocabulary: Vocabulary) -> Counted:
    """Our counts."""
    counts = count_cooccurrences(EncodedCorpus(ids, vocabulary), Cooccurrence(window=WINDOW))
    return lambda: (flat(counts.starts, counts.columns), counts.values.astype(np.float64))


def count_scipy(ids: UInt32Array, vocabulary: Vocabulary) -> Counted:
    """A sparse matrix for each distance, and their sum."""
    sparse: Any = import_module("scipy.sparse")
    shape = len(vocabulary), len(vocabulary)
    one = sparse.csr_array(shape)
    for distance, rows, columns in pairs_of(ids):
        weights = np.full(len(rows), 1 / distance)
        one += sparse.coo_array((weights, (rows, columns)), shape=shape).tocsr()
    both = one + one.T
    return lambda: (flat(both.indptr, both.indices), both.data)


def count_polars(ids: UInt32Array, vocabulary: Vocabulary) -> Counted:
    """Grouped by pair, then again with the pairs turned round."""
    polars: Any = import_module("polars")
    words, pair = len(vocabulary), polars.col("pair")
    one = polars.DataFrame(dict(zip(("pair", "weight"), weighted_pairs(ids, words), strict=True)))
    one = one.group_by("pair").agg(polars.col("weight").sum())
    other = one.select((pair % words * words + pair // words).alias("pair"), "weight")
    both = polars.concat([one, other]).group_by("pair").agg(polars.col("weight").sum())
    return lambda: (both["pair"].to_numpy(), both["weight"].to_numpy())


def count_duckdb(ids: UInt32Array, vocabulary: Vocabulary) -> Counted:
    """The same in SQL."""
    duckdb, arrow = import_module("duckdb"), import_module("pyarrow")
    words = len(vocabulary)
    connection = duckdb.connect()
    connection.register("pairs", arrow.table(weighted_pairs(ids, words), ["pair", "weight"]))
    both = connection.execute(
        f"""WITH one AS (SELECT pair, sum(weight) AS weight FROM pairs GROUP BY pair)
        SELECT pair, sum(weight) AS weight FROM (
          SELECT pair, weight FROM one
          UNION ALL SELECT pair % {words} * {words} + pair // {words}, weight FROM one
        ) GROUP BY pair"""
    ).fetchnumpy()
    return lambda: (both["pair"], both["weight"])


def flat(starts: npt.NDArray[Any], columns: npt.NDArray[Any]) -> Int64Array:
    """The pairs of a sparse matrix of words."""
    words = len(starts) - 1
    pairs: Int64Array = np.repeat(np.arange(words), np.diff(starts)) * words + columns
    return pairs


def weighted_pairs(ids: UInt32Array, words: int) -> list[npt.NDArray[Any]]:
    """All pairs end to end, and their weights."""
    parts = [
        (rows.astype(np.int64) * words + columns, np.full(len(rows), 1 / distance))
        for distance, rows, columns in pairs_of(ids)
    ]
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


def pairs_of(ids: UInt32Array) -> Iterator[tuple[int, Any, Any]]:
    """For each distance the words of known ids in one line, and those so far before them."""
    known = ids[ids != UNKNOWN]
    lines = np.cumsum(known == LINE_END)[known != LINE_END]
    known = known[known != LINE_END].astype(np.int32)
    for distance in range(1, WINDOW + 1):
        together = lines[distance:] == lines[:-distance]
        yield distance, known[distance:][together], known[:-distance][together]


if __name__ == "__main__":
    print_growth(Path(sys.argv[1]))
