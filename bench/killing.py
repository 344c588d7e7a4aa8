"""A training that is killed (`kill -9`) at random moments, and what its resumed vectors are worth.

What lies between the seeds of trainings that nobody disturbed is noise. Checkpoints come ten times
a second here instead of once a minute, so that a short training has some.
"""

import gzip
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from bench.data import Data
from bench.measure import MILLION, ROOT, Figure, say
from bench.text import CORPORA
from malmoi.evaluate.similarity import word_similarity
from malmoi.formats import load

KILLS, SEEDS = 15, 5
PAUSE = 0.1  # seconds
SIZE = int(10 * MILLION)  # bytes of text
SETTINGS = ("--dim", "100", "--epochs", "10", "--threads", "2")
TEST = CORPORA.parent / "words" / "EN-WS-353-ALL.txt"
PROGRAM = f"""
import sys
from malmoi.cli import run
from malmoi.files import checkpoint
checkpoint.SAVE_EVERY = {PAUSE}
sys.exit(run(sys.argv[1:]))
"""


def run(data: Data) -> Iterator[Figure]:
    """One figure; none where the corpus is not there."""
    source = CORPORA / "enwiki.txt.gz"
    if not (source.is_file() and TEST.is_file()):
        say(f"no {source} and {TEST} (set MALMOI_DATA): nothing is killed")
        return
    folder = data.folder / "killed"
    folder.mkdir()
    with gzip.open(source) as file:
        text = file.read(SIZE)
    (folder / "text.txt").write_bytes(text[: text.rindex(b"\n") + 1])
    yield beside_undisturbed(folder)


def beside_undisturbed(folder: Path) -> Figure:
    """The worst of the resumed trainings beside those that ran through."""
    say(f"{SEEDS} trainings that nobody kills")
    start = time.perf_counter()
    whole = []
    for seed in range(1, SEEDS + 1):
        finish(begin(folder, seed))
        whole.append(score_of_all_there_is(folder))
    took = (time.perf_counter() - start) / SEEDS
    say(f"{KILLS} trainings, each killed at a random moment of {took:.1f} s and resumed")
    chance, resumed, left = random.Random(1), [], 0
    for number in range(KILLS):
        seed = 1 + number % SEEDS
        process = begin(folder, seed)
        time.sleep(chance.uniform(0, took))
        process.kill()
        process.communicate()
        is_there = (folder / "out.malmoi.checkpoint").exists()
        left += is_there
        if is_there or not (folder / "out.malmoi").exists():  # else it was done already
            finish(begin(folder, seed, *["--resume"] * is_there))
        resumed.append(score_of_all_there_is(folder))
    worst = min(whole) - (max(whole) - min(whole))
    return Figure(
        name="killed and resumed, WS-353",
        ours=f"{min(resumed):.3f}",
        peer=f"{min(whole):.3f}",
        asked=f"≥ {worst:.3f}",
        met=min(resumed) >= worst,
        remark=f"Killed: skip-gram on {SIZE / MILLION:.0f} MB of enwiki, 2 threads, killed at"
        f" {KILLS} random moments; {left} times there was a checkpoint to go on from, else it began"
        f" anew. The worst of them beside the worst of {SEEDS} seeds undisturbed, and asked to be"
        f" within as much as these differ. Undisturbed {spread(whole)}, resumed {spread(resumed)}."
        " Nothing was left behind but the vectors.",
    )


def spread(scores: list[float]) -> str:
    """Scores in few words."""
    return f"{fmean(scores):.3f} on average ({min(scores):.3f} to {max(scores):.3f})"


def begin(folder: Path, seed: int, *more: str) -> "subprocess.Popen[str]":
    """A training in a process of its own."""
    command = ("train", "word2vec", "text.txt", "--out", "out.malmoi", *SETTINGS)
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command, "--seed", str(seed), *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "MALMOI_CACHE": str(folder / "cache"), "PYTHONPATH": str(ROOT / "src")},
    )


def finish(process: "subprocess.Popen[str]") -> None:
    """Wait for the end; that a training fails is an error."""
    _, told = process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"the training ended with code {process.returncode}: {told}")


def score_of_all_there_is(folder: Path) -> float:
    """Spearman on WS-353 of the vectors, which are removed; anything beside them is an error."""
    if (rest := {path.name for path in folder.iterdir()}) != {"text.txt", "cache", "out.malmoi"}:
        raise RuntimeError(f"there is more than vectors in {folder}: {rest}")
    value = word_similarity(load(folder / "out.malmoi"), TEST).spearman.value
    (folder / "out.malmoi").unlink()
    if value is None:
        raise RuntimeError("the vectors answer nothing")
    return value
