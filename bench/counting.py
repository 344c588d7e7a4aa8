"""How long co-occurrences take to count beside SciPy, Polars and DuckDB, and in what memory.

Each peer is given the pairs as arrays, one side of the window only, and sums them as it does
best; making the pairs and adding the other side is part of its time, as it is of ours.
"""

import gzip
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.data import Data
from bench.measure import MILLION, ROOT, Figure, best_of, faster, megabytes, say
from bench.probe import memory_field
from malmoi.kernels.words import LINE_END, UNKNOWN, Ids
from malmoi.train.cooccurrence import Cooccurrence, Cooccurrences, count_cooccurrences
from malmoi.vocabulary import Vocabulary

CORPUS = Path(os.environ.get("MALMOI_DATA", ROOT.parent / "shared" / "data")) / "corpora"
MIN_COUNT, WINDOW = 5, 10
ROUNDS, ASKED, LIMIT = 2, 2, 1e-6
MEMORY = 256  # megabytes; the counts themselves take more
SMALL = 100_000  # ids in the stream that only warms things up

Sums = npt.NDArray[np.float64]
Pairs = npt.NDArray[np.int64]  # row * words + column
Peer = Callable[[Ids, int], tuple[Pairs, Sums]]


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part; none where the corpus is not there."""
    source = CORPUS / "enwiki.txt.gz"
    if not source.is_file():
        say(f"no {source} (set MALMOI_DATA): counting is left out")
        return
    ids, vocabulary = encoded(source)
    yield from beside_peers(ids, vocabulary)
    np.save(data.folder / "ids.npy", ids)
    np.save(data.folder / "counts.npy", vocabulary.counts)
    yield memory(data.folder, len(vocabulary))


def encoded(source: Path) -> tuple[Ids, Vocabulary]:
    """The words between white space as ids, by plain Python."""
    say("ids of enwiki")
    lines = [line.split() for line in gzip.decompress(source.read_bytes()).decode().split("\n")]
    vocabulary = Vocabulary.of(
        Counter(word for line in lines for word in line), min_count=MIN_COUNT
    )
    ids = vocabulary.word_index(start=0)
    stream = [ids.get(word, UNKNOWN) for line in lines for word in [*line, "\n"]]
    found = np.array(stream, dtype=np.uint32)
    found[np.cumsum([len(line) + 1 for line in lines]) - 1] = LINE_END
    return found, vocabulary


def beside_peers(ids: Ids, vocabulary: Vocabulary) -> Iterator[Figure]:
    """Times, and whether the counts are the same."""
    peers: dict[str, Peer] = {"SciPy": scipy_counts, "Polars": polars_counts, "DuckDB": duckdb_counts}
    words = len(vocabulary)

    def ours() -> Cooccurrences:
        return count_cooccurrences(ids, vocabulary, Cooccurrence(window=WINDOW))

    for peer in (lambda: count_cooccurrences(ids[:SMALL], vocabulary), *peers.values()):
        ...
