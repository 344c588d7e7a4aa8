"""GloVe stopped at any moment, and taken up again as if it had not been."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from malmoi.errors import InvalidArgumentError
from malmoi.files import checkpoint
from malmoi.train.common.options import TrainOptions
from malmoi.train.glove import records as glove_records
from malmoi.train.glove.glove import train_glove
from tests.reporters import CallbackReporter
from tests.train.test_glove import SMALL, encoded, losses, text, with_settings


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glove_records, "CHUNK_GROUPS", 8)
    monkeypatch.setattr(glove_records, "MAX_GROUP_RECORDS", 4)


class Interrupted:
    """Progress that breaks off at some call."""

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def __call__(self, done: int, total: int) -> None:
        self.calls -= 1
        if self.calls == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("calls", [1, 2, 17, 30])
@pytest.mark.parametrize("always", [True, False])
def test_an_interrupted_training_ends_as_if_it_had_not_been(
    calls: int, always: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, path = encoded(text()), tmp_path / "x.checkpoint"
    whole = train_glove(corpus, SMALL)
    if always:
        monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    with pytest.raises(KeyboardInterrupt):
        train_glove(
            corpus,
            SMALL,
            options=TrainOptions(checkpoint=path),
            reporter=CallbackReporter(progress=Interrupted(calls)),
        )
    seen: list[tuple[int, int]] = []
    resumed = train_glove(
        corpus,
        SMALL,
        options=TrainOptions(checkpoint=path, resume=True),
        reporter=CallbackReporter(progress=lambda done, total: seen.append((done, total))),
    )
    assert resumed.matrix.tobytes() == whole.matrix.tobytes()
    assert resumed.meta == whole.meta
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]
    assert (seen[0][0] > 0) == (calls > 1)


def test_several_threads_are_still_when_a_checkpoint_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    corpus, path = encoded(text(lines=500)), tmp_path / "x.checkpoint"
    both = with_settings(threads=2)
    with pytest.raises(KeyboardInterrupt):
        train_glove(
            corpus,
            both,
            options=TrainOptions(checkpoint=path),
            reporter=CallbackReporter(progress=Interrupted(30)),
        )
    resumed = train_glove(
        corpus, both, options=TrainOptions(checkpoint=path, resume=True)
    )  # its sum is right
    assert losses(resumed)[-1] < losses(resumed)[0]


# Waits to be killed after so many chunks; every chunk ends with a checkpoint.
PROGRAM = """
import sys, time
from pathlib import Path
from malmoi.files import checkpoint
from malmoi.train.glove import records as glove_records
from malmoi.train.common.options import TrainOptions
from tests.reporters import CallbackReporter
from tests.train.test_glove import SMALL, encoded, text, train_glove
checkpoint.SAVE_EVERY = 0.0
glove_records.CHUNK_GROUPS, glove_records.MAX_GROUP_RECORDS = 8, 4
told = []
def stop(done, total):
    told.append(done)
    if len(told) == int(sys.argv[2]):
        print("now", flush=True)
        time.sleep(600)
options = TrainOptions(checkpoint=Path(sys.argv[1]))
train_glove(encoded(text()), SMALL, options=options, reporter=CallbackReporter(stop))
"""


@pytest.mark.parametrize("chunks", [3, 9])
def test_being_killed_loses_little(chunks: int, tmp_path: Path) -> None:
    path, root = tmp_path / "x.checkpoint", Path(__file__).parents[2]
    command = [sys.executable, "-c", PROGRAM, str(path), str(chunks)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"now\n"
        os.kill(process.pid, signal.SIGKILL)
    resumed = train_glove(
        encoded(text()), SMALL, options=TrainOptions(checkpoint=path, resume=True)
    )
    assert resumed.matrix.tobytes() == train_glove(encoded(text()), SMALL).matrix.tobytes()
    assert [file.name for file in tmp_path.iterdir() if file != path] == []


def test_another_number_of_threads_may_go_on(tmp_path: Path) -> None:
    corpus, path = encoded(text()), tmp_path / "x.checkpoint"
    with pytest.raises(KeyboardInterrupt):
        train_glove(
            corpus,
            SMALL,
            options=TrainOptions(checkpoint=path),
            reporter=CallbackReporter(progress=Interrupted(9)),
        )
    resumed = train_glove(
        corpus, with_settings(threads=2), options=TrainOptions(checkpoint=path, resume=True)
    )
    assert losses(resumed)[-1] < losses(resumed)[0]


def test_another_training_cannot_go_on(tmp_path: Path) -> None:
    corpus, path = encoded(text()), tmp_path / "x.checkpoint"
    start = train_glove(corpus, SMALL)
    with pytest.raises(KeyboardInterrupt):
        train_glove(
            corpus,
            SMALL,
            options=TrainOptions(checkpoint=path),
            reporter=CallbackReporter(progress=Interrupted(9)),
        )
    with pytest.raises(InvalidArgumentError, match="with dim 6, not 7"):
        train_glove(
            corpus, with_settings(dim=7), options=TrainOptions(checkpoint=path, resume=True)
        )
    with pytest.raises(InvalidArgumentError, match="on another corpus"):
        train_glove(encoded(text(2)), SMALL, options=TrainOptions(checkpoint=path, resume=True))
    with pytest.raises(InvalidArgumentError, match="training with init_vectors "):
        train_glove(
            corpus, SMALL, options=TrainOptions(init_vectors=start, checkpoint=path, resume=True)
        )
