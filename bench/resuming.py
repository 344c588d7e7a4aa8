"""Tunings of minilm that are killed (`kill -9`) at ten moments and resumed: the same weights?

A tuning kills itself when a function is called for the n-th time, so that every moment is hit:
while frozen layers are computed, dev scores measured, checkpoints and the folder written.
Checkpoints come after every step here instead of once a minute, so that a short run has some.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.data import Data
from bench.measure import ROOT, Figure, say
from bench.sentences import MODEL, STSB
from bench.tuning import FROZEN, TRAIN

ROWS = 65  # of each file, with its header
# The name of a function, and the call of it at which the process dies.
MOMENTS: tuple[tuple[str, int, str], ...] = (
    ("malmoi.tune.sentence.trainer.SentenceTrainer.cache_states", 1, "before caching"),
    ("malmoi.tune.network.sentence_network.SentenceNetwork.frozen_states", 2, "while caching"),
    ("malmoi.tune.data.dev_pairs.DevPairs.measure", 1, "first dev score"),
    ("malmoi.files.output.move_into_place", 1, "first checkpoint, not renamed"),
    ("malmoi.tune.sentence.trainer.SentenceTrainer.update", 3, "in a step, before its update"),
    ("malmoi.files.tensor_file.write_safetensors", 4, "before a checkpoint is written"),
    ("malmoi.files.output.remove_leftovers", 3, "after a checkpoint was renamed"),
    ("malmoi.tune.data.dev_pairs.DevPairs.measure", 3, "last dev score"),
    ("malmoi.tune.saving.model_card", 1, "while saving, weights written"),
    ("malmoi.tune.sentence.tuning.discard_checkpoint", 1, "after saving"),
)
PROGRAM = """
import importlib, os, signal, sys
from malmoi.cli import run
from malmoi.files import checkpoint

checkpoint.SAVE_EVERY = 0.0
moment, left = sys.argv[1], int(sys.argv[2])


def owner_of(name):
    *words, last = name.split(".")
    for end in range(len(words), 0, -1):
        try:
            owner = importlib.import_module(".".join(words[:end]))
        except ModuleNotFoundError:
            continue
        for word in words[end:]:
            owner = getattr(owner, word)
        return owner, last


def dying(*arguments, **options):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(*arguments, **options)


if moment != "-":
    owner, last = owner_of(moment)
    original = getattr(owner, last)
    setattr(owner, last, dying)
sys.exit(run(sys.argv[3:]))
"""


def run(data: Data) -> Iterator[Figure]:
    """One figure; none where STS-B is not there."""
    if not TRAIN.is_file():
        say(f"no {TRAIN} (set MALMOI_DATA): no tuning is killed")
        return
    folder = data.folder / "resumed"
    folder.mkdir()
    for source, name in ((TRAIN, "train.csv"), (STSB, "dev.csv")):
        lines = source.read_text(encoding="utf-8").splitlines()[:ROWS]
        (folder / name).write_text("\n".join(lines), encoding="utf-8")
    expected = weights_after(folder, "-", 0)
    same = 0
    for moment, call, name in MOMENTS:
        is_same = weights_after(folder, moment, call) == expected
        say(f"killed {name}: {'the same' if is_same else 'other'} weights")
        same += is_same
    yield Figure(
        name="tuning, killed and resumed",
        ours=f"{same}",
        peer=f"{len(MOMENTS)}",
        asked="the same bits",
        met=same == len(MOMENTS),
        remark=f"Tuning: {MODEL} on {ROWS - 1} pairs of STS-B with its lower {FROZEN} layers"
        " frozen, one thread, killed at"
        f" {len(MOMENTS)} moments: {', '.join(name for _, _, name in MOMENTS)}. How many resumed to"
        " the weights of an undisturbed run, bit for bit, and left nothing else behind.",
    )


def weights_after(folder: Path, moment: str, call: int) -> bytes:
    """The weights of a tuning that was killed at this moment and then resumed; `-` is never."""
    out = folder / "out"
    code = tune(folder, moment, call)
    if code != (0 if moment == "-" else -signal.SIGKILL):
        raise RuntimeError(f"the tuning to be killed at {moment} ended with code {code}")
    is_left = out.exists() or (folder / "out.checkpoint").exists()
    if moment != "-" and tune(folder, "-", 0, *["--resume"] * is_left):
        raise RuntimeError(f"the tuning killed at {moment} does not resume")
    content = (out / "model.safetensors").read_bytes()
    for path in sorted(out.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    out.rmdir()
    rest = {path.name for path in folder.iterdir()} - {"train.csv", "dev.csv"}
    if rest:
        raise RuntimeError(f"the tuning killed at {moment} left {', '.join(sorted(rest))}")
    return content


def tune(folder: Path, moment: str, call: int, *more: str) -> int:
    """Run the command in a process of its own; returns its exit code."""
    command = ("tune", "sentence", "train.csv", "--dev", "dev.csv", "--model", MODEL, "--out")
    settings = ("--freeze-layers", str(FROZEN), "--epochs", "1", "--threads", "1")
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, moment, str(call), *command, "out", *settings, *more],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=False,
    )
    if process.returncode > 0:
        say(process.stderr)
    return process.returncode
