"""Three distillations that would collapse: each is to be stopped within two minutes."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

import malmoi as mm
from bench.measure import Figure
from bench.sentences import MODEL
from malmoi.encode.checkpoint.convert import folder_beside
from malmoi.reporting.reporter import SilentReporter

LIMIT = 120.0  # seconds of CPU
TABLE = "word_embeddings.weight"
FAST = 5e-2  # a learning rate that is a thousand times too high


def collapses(data: mm.DistillData, student: Path, folder: Path) -> Iterator[Figure]:
    """A student without Korean tokens, one with dead rows, and a far too high learning rate."""
    plain = mm.DistillSettings(threads=1, rows="all")
    fast = replace(plain, learning_rate=FAST, rows_learning_rate=FAST)
    dead = dead_student(student, folder / "dead")
    for name, model, settings in (
        ("minilm as it is", MODEL, plain),
        ("rows all the same", str(dead), plain),
        (f"learning rate {FAST:g}", str(student), fast),
    ):
        started, reason = time.process_time(), ""
        try:
            mm.distill(data, model, folder / "collapsed", settings, reporter=SilentReporter())
        except mm.CollapseError as error:
            reason = str(error)
        took = time.process_time() - started
        yield Figure(
            name=f"stopped: {name}",
            ours=f"{took:.0f} s" if reason else "not stopped",
            asked=f"< {LIMIT:g} s",
            met=bool(reason) and took < LIMIT,
            remark=reason.replace(str(folder), ""),
        )


def dead_student(student: Path, out: Path) -> Path:
    """The student with the mean of all rows as the row of each new token."""
    known = len(mm.load_transformer(MODEL).tokenizer.backend.get_vocab())
    with folder_beside(out) as part:
        for path in student.rglob("*"):
            if path.is_file() and path.suffix != ".safetensors":
                copy = part / path.relative_to(student)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(path.read_bytes())
        weights = load_file(student / "model.safetensors")
        (name,) = (each for each in weights if each.endswith(TABLE))
        table = np.array(weights[name])
        table[known:] = table[:known].mean(axis=0)
        save_file(weights | {name: table}, part / "model.safetensors", {"format": "pt"})
    return out
