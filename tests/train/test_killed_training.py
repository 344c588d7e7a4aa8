"""A training that is killed again and again, at any moment, ends as if it had never been."""

import subprocess
import sys
from pathlib import Path

import pytest

from malmoi.formats import load
from malmoi.subwords import SubwordVectors
from tests.killing_itself import run_until_killed
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


def arguments(kind: str, out: str, *more: str) -> list[str]:
    settings = ["--dim", "64", "--min-count", "1", "--epochs", "40", "--subsample", "0"]
    return ["train", kind, "text.txt", "--out", out, *settings, "--threads", "1", *more]


def finish(kind: str, out: str, *more: str) -> None:
    command = [sys.executable, "-c", PROGRAM, *arguments(kind, out, *more)]
    done = subprocess.run(command, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("kind", ["word2vec", "fasttext"])
def test_killed_trainings_end_with_the_same_bits(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("\n".join(lines(3000)))
    finish(kind, "whole.malmoi")

    left = Path("out.malmoi.checkpoint")
    for seed in range(KILLS):
        more = ["--resume"] * (seed > 0)
        run_until_killed(SLOW + PROGRAM, arguments(kind, "out.malmoi", *more), seed)
        assert left.exists()
        assert not Path("out.malmoi").exists()
    finish(kind, "out.malmoi", "--resume")

    whole, out = load("whole.malmoi"), load("out.malmoi")
    assert out.matrix.tobytes() == whole.matrix.tobytes()
    if isinstance(whole, SubwordVectors) and isinstance(out, SubwordVectors):
        assert out.bucket_rows.tobytes() == whole.bucket_rows.tobytes()
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"text.txt", "whole.malmoi", "out.malmoi"}
