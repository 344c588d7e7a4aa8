"""How many records GloVe learns per second of processor time, and what a second thread brings.

No peer that installs with pip trains GloVe, so the figures stand alone.
"""

import time
import warnings
from collections.abc import Iterator
from dataclasses import replace

from bench.counting import CORPUS, MIN_COUNT, WINDOW, encoded
from bench.data import Data
from bench.measure import MILLION, Figure, say
from malmoi.errors import MalmoiWarning
from malmoi.kernels.threads import THREADS
from malmoi.models.cooccurrences import Cooccurrences
from malmoi.text.encoded import EncodedCorpus
from malmoi.train.counts.cooccurrence import Cooccurrence, count_cooccurrences
from malmoi.train.glove.glove import train_glove
from malmoi.train.glove.settings import GloVe
from tests.reporters import CallbackReporter

SETTINGS = GloVe(dim=100, window=WINDOW, min_count=MIN_COUNT, iterations=50, threads=THREADS)
ASKED = 6  # million records per CPU-second
GAIN = 1.8  # by two threads
FEW = 4  # iterations, to compare threads
ROUNDS = 2


def run(data: Data) -> Iterator[Figure]:
    """All figures of this part; none where the corpus is not there."""
    source = CORPUS / "enwiki.txt.gz"
    if not source.is_file():
        say(f"no {source} (set MALMOI_DATA): GloVe is left out")
        return
    counts = count_cooccurrences(EncodedCorpus(*encoded(source)), Cooccurrence(window=WINDOW))
    warnings.simplefilter("ignore", MalmoiWarning)  # a few words have no other beside them
    train_glove(counts, replace(SETTINGS, iterations=1))
    yield speed(counts)
    if THREADS > 1:
        yield threads(counts)


def speed(counts: Cooccurrences) -> Figure:
    """Records per CPU-second, from counts to vectors."""
    say(f"GloVe, {SETTINGS.iterations} iterations")
    start, clock = time.process_time(), time.perf_counter()
    train_glove(counts, SETTINGS)
    spent, passed = time.process_time() - start, time.perf_counter() - clock
    learnt = SETTINGS.iterations * len(counts) / MILLION
    return Figure(
        name="GloVe, records/CPU-second",
        ours=f"{learnt / spent:.1f} M",
        asked=f"≥ {ASKED} M",
        met=learnt / spent >= ASKED,
        remark=f"GloVe: enwiki, dim {SETTINGS.dim}, window {WINDOW}, {SETTINGS.iterations}"
        f" iterations of {len(counts) / MILLION:.1f} M records on {THREADS} threads:"
        f" {learnt / passed:.1f} M records/s of time that passes.",
    )


def threads(counts: Cooccurrences) -> Figure:
    """How much faster two threads are than one, once all is prepared."""
    say(f"GloVe on one thread and two, {ROUNDS} rounds")
    best = [min(iteration(counts, number) for _ in range(ROUNDS)) for number in (1, 2)]
    gain = best[0] / best[1]
    return Figure(
        name="  two threads for one",
        ours=f"{gain:.2f}×",
        asked=f"≥ {GAIN}×",
        met=gain >= GAIN,
    )


def iteration(counts: Cooccurrences, threads: int) -> float:
    """Seconds of an iteration after the first."""
    ends: list[float] = []
    settings = replace(SETTINGS, iterations=FEW, threads=threads)
    train_glove(
        counts,
        settings,
        reporter=CallbackReporter(on_loss=lambda loss: ends.append(time.perf_counter())),
    )
    return (ends[-1] - ends[0]) / (FEW - 1)
