"""What a figure is, and how times are taken: in turn with the peer, best of several rounds.

Knows nothing of what is measured.
"""

import gc
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MILLION = 1e6

Task = Callable[[], object]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One line of the table; `met` is None where nothing was asked for."""

    name: str
    ours: str
    peer: str = ""
    ratio: float | None = None  # the peer's time or memory over ours
    off: float | None = None  # the largest difference, where sameness is asked for
    asked: str = ""
    met: bool | None = None
    remark: str = ""


def faster(name: str, ours: float, peer: float, at_least: float | None, remark: str = "") -> Figure:
    """Two times in seconds, and how many times faster we are asked to be."""
    ratio = peer / ours
    return Figure(
        name=name,
        ours=seconds(ours),
        peer=seconds(peer),
        ratio=ratio,
        asked="" if at_least is None else f"≥ {at_least:g}×",
        met=None if at_least is None else ratio >= at_least,
        remark=remark,
    )


def within(name: str, ours: float, limit: float, peer: float | None = None) -> Figure:
    """A time in seconds that is to stay under a limit, whatever the peer takes."""
    return Figure(
        name=name,
        ours=seconds(ours),
        peer="" if peer is None else seconds(peer),
        ratio=None if peer is None else peer / ours,
        asked=f"< {seconds(limit)}",
        met=ours < limit,
    )


def best_of(rounds: int, *tasks: Task) -> list[float]:
    """The shortest time of each task in seconds; they take turns, so that noise hits all."""
    best = [float("inf")] * len(tasks)
    for _ in range(rounds):
        for i, task in enumerate(tasks):
            gc.collect()
            start = time.perf_counter()
            result = task()
            best[i] = min(best[i], time.perf_counter() - start)
            del result  # freed outside the time taken, before the next one starts
    return best


def ready(load: Callable[[Path], Any], path: Path, word: str) -> Task:
    """A task that loads vectors and looks a word up, so that no work can be put off."""

    def task() -> object:
        vectors = load(path)
        vectors[word]
        return vectors  # whole: taking it apart is nobody's loading time

    return task


def seconds(value: float) -> str:
    """A time as people read it."""
    if value >= 1:
        return f"{value:.1f} s" if value % 1 else f"{value:.0f} s"
    return f"{value * 1000:.{0 if value >= 0.01 else 2}f} ms"


def megabytes(size: float) -> str:
    """A size as people read it."""
    return f"{size / MILLION:,.0f} MB"


def command(words: Sequence[str]) -> Task:
    """A task that runs a program to its end; that it fails is an error."""
    return lambda: subprocess.run(words, check=True, capture_output=True, cwd=ROOT)


def probe(*words: str) -> "subprocess.Popen[str]":
    """A fresh Python that runs `bench.probe`: to be used in a `with`, which waits for its end."""
    return subprocess.Popen(
        [sys.executable, "-m", "bench.probe", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def answer(process: "subprocess.Popen[str]", question: str = "") -> int:
    """The next number that a probe prints, after a line to it if one is given."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(question)
    process.stdin.flush()
    line = process.stdout.readline()
    if not line.strip():
        raise RuntimeError(f"the probe {process.args!r} ended with code {process.wait()}")
    return int(line)


def say(what: str) -> None:
    """Progress, for the person who waits."""
    print(f"bench: {what}", file=sys.stderr, flush=True)
