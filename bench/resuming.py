"""Tunings of minilm that are killed (`kill -9`) at many moments and resumed: the same weights?

A tuning kills itself when a function is called for the n-th time, so that every moment is hit:
while frozen layers are computed, dev scores measured, checkpoints and the folder written.
Checkpoints come after every step here instead of once a minute, so that a short run has some.
"""

import os
import shutil
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
Moment = tuple[str, int, str]  # a function, the call of it at which the process dies, and a name
MOMENTS: tuple[Moment, ...] = (
    ("malmoi.tune.sentence.trainer.SentenceTrainer.cache_states", 1, "before caching"),
    ("malmoi.tune.network.sentence_network.SentenceNetwork.frozen_states", 2, "while caching"),
    ("malmoi.tune.data.dev_pairs.DevPairs.measure", 1, "first dev score"),
    ("malmoi.files.output.move_into_place", 1, "first checkpoint, not renamed"),
    ("malmoi.tune.sentence.trainer.SentenceTrainer.update", 3, "in a step, before its update"),
    ("malmoi.files.tensor_file.write_safetensors", 4, "before a checkpoint is written"),
    ("malmoi.files.output.remove_leftovers", 3, "after a checkpoint was renamed"),
    ("malmoi.tune.data.dev_pairs.DevPairs.measure", 3, "last dev score"),
    ("malmoi.tune.saving._set_float32", 1, "while saving, weights written"),
    ("malmoi.tune.sentence.tuning.discard_checkpoint", 1, "after saving"),
)
OTHER_MOMENTS: tuple[Moment, ...] = (
    ("malmoi.tune.loop.TrainingLoop._step", 2, "in the second step"),
    ("malmoi.files.tensor_file.write_safetensors", 2, "before a checkpoint is written"),
    ("malmoi.files.output.remove_leftovers", 2, "after a checkpoint was renamed"),
)
ONE_EPOCH = ("--epochs", "1", "--threads", "1")
SMALL_BATCHES = ("--batch-size", "16", *ONE_EPOCH)
KINDS: dict[str, tuple[tuple[str, ...], tuple[Moment, ...]]] = {  # options and moments of each
    "sentence": (
        ("train.csv", "--dev", "dev.csv", "--freeze-layers", str(FROZEN), *ONE_EPOCH),
        MOMENTS,
    ),
    "distill": (
        ("train.csv", "--columns", "1,2", "--rows", "none", "--force", *SMALL_BATCHES),
        (*OTHER_MOMENTS, ("malmoi.tune.distill.distilling.discard_checkpoint", 1, "after saving")),
    ),
    "adapt": (
        ("texts.txt", "--method", "mlm", *SMALL_BATCHES),
        (*OTHER_MOMENTS, ("malmoi.tune.adapt.adapting.discard_checkpoint", 1, "after saving")),
    ),
}
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
    """One figure per kind of tuning; none where STS-B is not there."""
    if not TRAIN.is_file():
        say(f"no {TRAIN} (set MALMOI_DATA): no tuning is killed")
        return
    folder = data.folder / "resumed"
    folder.mkdir()
    for source, name in ((TRAIN, "train.csv"), (STSB, "dev.csv")):
        lines = source.read_text(encoding="utf-8").splitlines()[:ROWS]
        (folder / name).write_text("\n".join(lines), encoding="utf-8")
    texts = [line.split(",")[0] for line in lines]
    (folder / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    for kind in KINDS:
        yield killed(kind, folder)


def killed(kind: str, folder: Path) -> Figure:
    """How many runs of a kind end with the weights of an undisturbed one."""
    moments = KINDS[kind][1]
    expected = weights_after(kind, folder, "-", 0)
    same = 0
    for moment, call, name in moments:
        is_same = weights_after(kind, folder, moment, call) == expected
        say(f"{kind}, killed {name}: {'the same' if is_same else 'other'} weights")
        same += is_same
    frozen = f" with its lower {FROZEN} layers frozen" if kind == "sentence" else ""
    return Figure(
        name=f"{kind}, killed and resumed",
        ours=f"{same}",
        peer=f"{len(moments)}",
        asked="the same bits",
        met=same == len(moments),
        remark=f"{kind}: {MODEL} on {ROWS - 1} rows of STS-B{frozen}, one thread, killed at"
        f" {len(moments)} moments: {', '.join(name for _, _, name in moments)}. How many resumed to"
        " the weights of an undisturbed run, bit for bit, and left nothing else behind.",
    )


def weights_after(kind: str, folder: Path, moment: str, call: int) -> bytes:
    """The weights of a tuning that was killed at this moment and then resumed; `-` is never."""
    out, before = folder / "out", set(folder.iterdir())
    code = tune(kind, folder, moment, call)
    if code != (0 if moment == "-" else -signal.SIGKILL):
        raise RuntimeError(f"the {kind} to be killed at {moment} ended with code {code}")
    is_left = out.exists() or (folder / "out.checkpoint").exists()
    if moment != "-" and tune(kind, folder, "-", 0, *["--resume"] * is_left):
        raise RuntimeError(f"the {kind} killed at {moment} does not resume")
    content = (out / "model.safetensors").read_bytes()
    shutil.rmtree(out)
    if rest := {path.name for path in set(folder.iterdir()) - before}:
        raise RuntimeError(f"the {kind} killed at {moment} left {', '.join(sorted(rest))}")
    return content


def tune(kind: str, folder: Path, moment: str, call: int, *more: str) -> int:
    """Run the command in a process of its own; returns its exit code."""
    command = ("tune", kind, *KINDS[kind][0], "--model", MODEL, "--out", "out", *more)
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, moment, str(call), *command],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=False,
    )
    if process.returncode > 0:
        say(process.stderr)
    return process.returncode
