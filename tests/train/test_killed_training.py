"""A training that is killed again and again, at any moment, ends as if it had never been."""

import contextlib
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from malmoi.files.checkpoint import discard_checkpoint
from malmoi.formats import load
from malmoi.subwords import SubwordVectors
from tests.train.worlds import lines

KILLS = 4
# A checkpoint several times a second, of parts that take a moment, instead of one a minute.
PROGRAM = """
import sys
from malmoi.cli import run
from malmoi.files import checkpoint
from malmoi.train.word2vec import trainer as word_learning
checkpoint.SAVE_EVERY, word_learning.CHUNK_TOKENS = 0.1, 4000
sys.exit(run(sys.argv[1:]))
"""
# One that takes seconds, so that it is not done before it is killed.
SLOW = """
import time
from malmoi.train.word2vec import trainer as word_learning
trainer = word_learning.Word2VecTrainer
learn = trainer.train_chunk
trainer.train_chunk = lambda self, job: (learn(self, job), time.sleep(0.01))[0]
"""


def start(kind: str, out: str, *more: str, program: str = PROGRAM) -> "subprocess.Popen[bytes]":
    settings = ["--dim", "64", "--min-count", "1", "--epochs", "40", "--subsample", "0"]
    command = ["train", kind, "text.txt", "--out", out, *settings, "--threads", "1", *more]
    return subprocess.Popen(
        [sys.executable, "-c", program, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def finish(process: "subprocess.Popen[bytes]") -> None:
    _, told = process.communicate(timeout=300)
    assert process.returncode == 0, told.decode()


@pytest.mark.parametrize("kind", ["word2vec", "fasttext"])
def test_killed_trainings_end_with_the_same_bits(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("\n".join(lines(3000)))
    finish(start(kind, "whole.malmoi"))

    chance, left, kills = random.Random(1), Path("out.malmoi.checkpoint"), 0

    def written() -> int:
        with contextlib.suppress(FileNotFoundError):
            return left.stat().st_mtime_ns
        return 0

    while not Path("out.malmoi").exists() and kills < KILLS:
        before = written()
        more = ["--resume"] * left.exists()
        with start(kind, "out.malmoi", *more, program=SLOW + PROGRAM) as process:
            while process.poll() is None and written() == before:
                time.sleep(0.005)
            time.sleep(chance.uniform(0, 0.2))
            process.kill()
        kills += 1
    assert kills >= 2
    if not Path("out.malmoi").exists():
        finish(start(kind, "out.malmoi", "--resume"))

    whole, out = load("whole.malmoi"), load("out.malmoi")
    assert out.matrix.tobytes() == whole.matrix.tobytes()
    if isinstance(whole, SubwordVectors) and isinstance(out, SubwordVectors):
        assert out.bucket_rows.tobytes() == whole.bucket_rows.tobytes()
    discard_checkpoint(left)  # there still if the last one was killed just before its end
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"text.txt", "whole.malmoi", "out.malmoi"}
