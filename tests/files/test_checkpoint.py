"""Checkpoints: what comes back, what is refused, what is left when writing is cut short."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from malmoi.errors import InvalidArgumentError, InvalidFileError, MalmoiWarning
from malmoi.files import checkpoint
from malmoi.files.checkpoint import (
    Checkpoint,
    Checkpointer,
    RunFingerprint,
    checkpoint_path,
    discard_checkpoint,
    open_checkpoint,
    save_checkpoint,
)
from malmoi.files.output import atomic_write
from malmoi.files.tensors import Tensors, write_safetensors
from malmoi.vocabulary import Vocabulary

IDS = np.array([0, 1, 0], dtype=np.uint32)
WORDS = Vocabulary.of({"a": 2, "b": 1})

# Writes checkpoints whose arrays and state are all one number, until something stops it.
PROGRAM = """
import os, signal, sys
from pathlib import Path
import numpy as np
from malmoi.files import tensors
from malmoi.files.checkpoint import Checkpoint, RunFingerprint, save_checkpoint

def save(number):
    rows = {"rows": np.full((500, 100), number, dtype=np.float32)}
    saved = Checkpoint(rows, {"number": number})
    save_checkpoint(Path(sys.argv[1]), saved, RunFingerprint({}, "x"))

def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def half_written(file, arrays, said):
    really_write(file, arrays, said)
    file.truncate(100_000)
    killed()

save(1)
really_write = tensors.write_to_stream
if sys.argv[2] == "half way":
    tensors.write_to_stream = half_written
else:
    os.fsync = killed
save(2)
"""


@dataclass(frozen=True)
class Settings:
    dim: int = 8
    weights: tuple[float, ...] = (0.5, 0.25)


def origin(dim: int = 8, ids: list[int] | None = None) -> RunFingerprint:
    stream = IDS if ids is None else np.array(ids, dtype=np.uint32)
    return RunFingerprint.of(Settings(dim), stream, WORDS)


def some() -> Checkpoint:
    tensors: Tensors = {
        "matrix": np.random.default_rng(1).normal(size=(7, 3)).astype(np.float32),
        "step": np.array(12.0, dtype=np.float32),
        "random": np.frombuffer(b"12345", dtype=np.uint8),
        "none": np.empty((0, 4), dtype=np.int64),
    }
    return Checkpoint(tensors, {"done": 2**70, "rate": 0.1, "name": "말", "list": [1, [2]]})


def test_a_checkpoint_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x.checkpoint"
    save_checkpoint(path, some(), origin())
    again = open_checkpoint(path, origin())
    assert again.state == some().state
    for name, array in some().tensors.items():
        assert again.tensors[name].dtype == array.dtype
        np.testing.assert_array_equal(again.tensors[name], array)
    again.tensors["matrix"][:] = 0  # its own, not the file's
    save_checkpoint(path, again, origin())


def test_a_checkpoint_stands_beside_what_will_be_written(tmp_path: Path) -> None:
    assert checkpoint_path(tmp_path / "m.arpa.gz") == tmp_path / "m.arpa.gz.checkpoint"


@pytest.mark.parametrize("moment", ["half way", "before the end"])
def test_being_killed_while_writing_leaves_the_last_good_one(moment: str, tmp_path: Path) -> None:
    path = tmp_path / "x.checkpoint"
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(path), moment])
    assert done.returncode == -signal.SIGKILL
    left = open_checkpoint(path, RunFingerprint({}, "x"))
    assert left.state == {"number": 1}
    assert np.all(left.tensors["rows"] == 1)
    assert (
        len(list(tmp_path.iterdir())) == 2
    )  # and half of the next, which the next to come removes
    save_checkpoint(path, left, RunFingerprint({}, "x"))
    assert list(tmp_path.iterdir()) == [path]


def test_damaged_files_are_told(tmp_path: Path) -> None:
    path = tmp_path / "x.checkpoint"
    save_checkpoint(path, some(), origin())
    whole = path.read_bytes()
    for wrong in (
        whole[:-1],
        whole[:40],
        whole[:5],
        whole[:-1] + b"\xff",
        whole.replace(b'"state"', b'"stage"'),
        whole.replace(b'"settings":"{', b'"settings":"['),
    ):
        path.write_bytes(wrong)
        with pytest.raises(InvalidFileError, match=r"x\.checkpoint is damaged"):
            open_checkpoint(path, origin())


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.checkpoint"
    with pytest.raises(InvalidFileError, match=r"there is no .*x\.checkpoint to resume from"):
        open_checkpoint(path, origin())
    write_safetensors(path, {}, {"malmoi": "1", "kind": "nnlm"})
    with pytest.raises(InvalidFileError, match="is not a checkpoint but of the kind 'nnlm'"):
        open_checkpoint(path, origin())


def test_only_the_same_settings_and_corpus_go_on(tmp_path: Path) -> None:
    path = tmp_path / "x.checkpoint"
    save_checkpoint(path, some(), origin())
    with pytest.raises(
        InvalidArgumentError, match="with dim 8, not 9: resume with dim 8, or start"
    ):
        open_checkpoint(path, origin(dim=9))
    with pytest.raises(InvalidArgumentError, match="on another corpus"):
        open_checkpoint(path, origin(ids=[0, 1, 1]))
    with pytest.raises(InvalidArgumentError, match="with method Settings, not None"):
        open_checkpoint(path, RunFingerprint({}, origin().corpus))
    other_words = RunFingerprint.of(Settings(), IDS, Vocabulary.of({"a": 2, "c": 1}))
    with pytest.raises(InvalidArgumentError, match="on another corpus"):
        open_checkpoint(path, other_words)


def test_a_checkpoint_is_discarded_once(tmp_path: Path) -> None:
    path = tmp_path / "x.checkpoint"
    save_checkpoint(path, some(), origin())
    discard_checkpoint(path)
    discard_checkpoint(path)
    assert not list(tmp_path.iterdir())
    path.mkdir()
    with pytest.raises(InvalidFileError, match="cannot be removed"):
        discard_checkpoint(path)


def test_half_a_checkpoint_of_a_killed_training_goes_with_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.checkpoint"
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    with monkeypatch.context() as patched:
        patched.setattr(os, "getpid", lambda: ended.pid)
        with atomic_write(path) as (part,):
            part.touch()
    part.touch()  # as if the process had been killed while it wrote the next
    discard_checkpoint(path)
    assert not list(tmp_path.iterdir())


def test_a_keeper_goes_on_from_what_it_finds(tmp_path: Path) -> None:
    path = tmp_path / "x.checkpoint"
    first = Checkpointer(path, origin(), resume=False)
    assert first.restored is None
    first.save(some())
    again = Checkpointer(path, origin(), resume=True)
    assert again.restored is not None
    assert again.restored.state == some().state


def test_what_is_left_over_is_told_of_and_stays_until_it_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.checkpoint"
    save_checkpoint(path, some(), origin())
    with pytest.warns(MalmoiWarning, match=r"x\.checkpoint is left over"):
        keeper = Checkpointer(path, origin(dim=9), resume=False)
    assert open_checkpoint(path, origin()).state == some().state
    keeper.save(Checkpoint({}, {"new": 1}))
    assert open_checkpoint(path, origin(dim=9)).state == {"new": 1}


def test_a_keeper_is_due_once_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(checkpoint, "monotonic", lambda: clock[0])
    keeper = Checkpointer(tmp_path / "x.checkpoint", origin(), resume=False)
    clock[0] += 59
    assert not keeper.is_due
    clock[0] += 1
    assert keeper.is_due
    keeper.save(some())
    assert not keeper.is_due


def test_without_a_place_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    keeper = Checkpointer(None, origin(), resume=False)
    keeper.save(some())
    assert not keeper.is_due
    assert keeper.restored is None
    with pytest.raises(InvalidArgumentError, match="resume needs a checkpoint: name its path"):
        Checkpointer(None, origin(), resume=True)


def test_arrays_of_another_shape_are_not_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "x.checkpoint"
    saved = Checkpoint({"rows": np.ones((2, 3), np.float32)}, {})
    save_checkpoint(path, saved, origin())
    found = open_checkpoint(path, origin())
    held = np.zeros((2, 3), np.float32)
    found.copy_to({"rows": held})
    assert held.all()
    for wrong in (np.zeros((1, 3), np.float32), np.zeros((2, 3))):
        with pytest.raises(InvalidFileError, match=r"x\.checkpoint is damaged: 'rows' is not"):
            found.copy_to({"rows": wrong})
    with pytest.raises(InvalidFileError, match="'other' is not"):
        found.copy_to({"other": held})
