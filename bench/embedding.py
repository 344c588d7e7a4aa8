"""How much memory `malmoi embed` holds while it goes through a million short texts.

All of them are there and are counted first; then they are embedded for a while, not to the end,
which takes a quarter of an hour. What the memory does from half of that time on is drawn out to a
million.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from bench.data import Data
from bench.encoding import MODEL, short_texts
from bench.measure import MILLION, ROOT, Figure, megabytes, say
from bench.text import CORPORA

TEXTS, PATIENCE, PAUSE = int(MILLION), 75.0, 0.25  # texts, seconds, seconds
ASKED = 1.5e9  # bytes
ROW, HEADER = 384 * 4, 128  # bytes
KIBI = 1024


def run(data: Data) -> Iterator[Figure]:
    """One figure; none where the texts are not there."""
    if not CORPORA.is_dir() or not Path("/proc/self/status").exists():
        say(f"no texts in {CORPORA.parent} (set MALMOI_DATA), or no /proc: memory is left out")
        return
    folder = data.folder / "embedding"
    folder.mkdir()
    yield memory(folder, PATIENCE)


def memory(folder: Path, patience: float) -> Figure:
    """The peak of a process, and whether it grows with the texts that are done."""
    sentences = cycle(short_texts())
    lines = (f"{text} {number}\n" for number, text in enumerate(islice(sentences, TEXTS)))
    with (folder / "texts.txt").open("w", encoding="utf-8") as file:
        file.writelines(lines)
    say(f"{TEXTS:,} texts embedded for {patience:.0f} s")
    seen = list(watched(folder, patience))
    half = [(done, held) for done, held in seen if done >= seen[-1][0] / 2]
    (before, held_before), (after, held_after) = half[0], half[-1]
    growth = (held_after - held_before) / max(1, after - before)  # bytes a text
    peak = max(held for _, held in seen)
    at_the_end = peak + max(0.0, growth) * (TEXTS - after)
    return Figure(
        name=f"embed, {TEXTS:,} texts",
        ours=megabytes(peak),
        asked=f"< {megabytes(ASKED)}",
        met=at_the_end < ASKED,
        remark=f"Memory of malmoi embed --out x.npy: {TEXTS:,} sentences of STS-B, numbered, were"
        f" read and counted, {after:,} of them embedded in this run. At its peak the process held"
        f" {megabytes(peak)}; with {before:,} texts done {megabytes(held_before)}, with {after:,}"
        f" {megabytes(held_after)}: drawn out, {megabytes(at_the_end)} with {TEXTS:,}.",
    )


def watched(folder: Path, patience: float) -> Iterator[tuple[int, int]]:
    """How many texts are written and how many bytes the process has held at its most, by then."""
    words = ("embed", "--file", "texts.txt", "--model", MODEL, "--out", "x.npy")
    process = subprocess.Popen(
        [sys.executable, "-m", "malmoi", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    part, start = folder / "x.npy.part", time.monotonic()
    try:
        while process.poll() is None and time.monotonic() - start < patience:
            time.sleep(PAUSE)
            done = max(0, part.stat().st_size - HEADER) // ROW if part.exists() else 0
            if done == 0:
                start = time.monotonic()  # the time counts from the first chunk on
            else:
                yield done, peak_of(process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def peak_of(process: int) -> int:
    """The most memory a process has held, in bytes; 0 once it is over."""
    try:
        text = Path("/proc", str(process), "status").read_text()
    except OSError:
        return 0
    found = [line for line in text.splitlines() if line.startswith("VmHWM:")]
    return int(found[0].split()[1]) * KIBI if found else 0
