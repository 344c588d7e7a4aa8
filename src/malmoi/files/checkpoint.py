"""Checkpoints: the progress of a long run in a file beside its output, so that it can resume.

A checkpoint holds arrays by name and a small state of numbers and strings, together with a
fingerprint of the run: only a run with the same settings and the same corpus can resume from it.
It is a tensor file whose metadata hold, as JSON, `settings`, `corpus` and `state`. Knows nothing
about what is computed.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.errors import InvalidArgumentError, InvalidFileError, warn
from malmoi.files.output import remove_leftovers
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import FileKind, read_tensor_file, write_tensor_file
from malmoi.files.tensors import Tensors, invalid_file_on_error
from malmoi.vocabulary import Vocabulary

KIND = FileKind("checkpoint", "a checkpoint")
SAVE_EVERY = 60.0  # seconds of work that an interruption may lose

CheckpointState = dict[str, Any]  # what JSON holds: numbers, strings, lists and dicts of them


@dataclass(frozen=True)
class RunFingerprint:
    """What identifies a run: its settings by name, and a digest of its corpus."""

    settings: CheckpointState
    corpus: str
    work: str = "a training"

    @classmethod
    def of(cls, settings: Any, ids: npt.NDArray[Any], vocabulary: Vocabulary) -> "RunFingerprint":
        """The fingerprint of a training with a dataclass of settings on a stream of ids."""
        digest = blake2b(digest_size=16)
        words = vocabulary.words
        for array in (ids, words.packed, words.offsets, vocabulary.counts):
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
        by_name = {"method": type(settings).__name__, **asdict(settings)}
        return cls(json.loads(json.dumps(by_name)), digest.hexdigest())


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The arrays and the state of an unfinished run."""

    tensors: Tensors
    state: CheckpointState
    path: Path | None = None  # of the file it was read from

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Turn whatever fails while restoring into an `InvalidFileError` that names the file."""
        try:
            with invalid_file_on_error(self.path or Path("checkpoint")):
                yield
        except RuntimeError as error:  # torch raises it for tensors that do not fit
            raise InvalidFileError(
                f"{self.path} is damaged: {error}: start again without resuming"
            ) from error

    def copy_to(self, arrays: Tensors) -> None:
        """Copy the arrays of the checkpoint into those of the run."""
        for name, array in arrays.items():
            saved = self.tensors.get(name)
            if saved is None or (saved.shape, saved.dtype) != (array.shape, array.dtype):
                raise InvalidFileError(
                    f"{self.path} is damaged: '{name}' is not {array.dtype} {list(array.shape)}:"
                    " start again without resuming"
                )
            array[...] = saved


def checkpoint_path(out: Path) -> Path:
    """The path of the checkpoint of the run that will write `out`."""
    return out.with_name(f"{out.name}.checkpoint")


def save_checkpoint(path: Path, checkpoint: Checkpoint, run: RunFingerprint) -> None:
    """Replace the previous checkpoint; whatever happens, one of the two is there."""
    metadata = {
        "settings": json.dumps(run.settings),
        "corpus": run.corpus,
        "state": json.dumps(checkpoint.state),
    }
    write_tensor_file(path, KIND, checkpoint.tensors, metadata)


def open_checkpoint(path: Path, run: RunFingerprint) -> Checkpoint:
    """Read the checkpoint of a run with the same fingerprint; the arrays are copies."""
    if not path.exists():
        raise InvalidFileError(f"there is no {path} to resume from: start without resuming")
    tensors, metadata = read_tensor_file(InputFile(path), KIND)
    with invalid_file_on_error(path):
        saved = RunFingerprint(dict(json.loads(metadata["settings"])), metadata["corpus"])
        state = dict(json.loads(metadata["state"]))
    check_same_run(path, saved, run)
    return Checkpoint({name: array.copy() for name, array in tensors.items()}, state, path)


def check_same_run(path: Path, saved: RunFingerprint, run: RunFingerprint) -> None:
    """Raise `InvalidArgumentError` if the checkpoint belongs to a different run."""
    for name in run.settings | saved.settings:
        old, new = saved.settings.get(name), run.settings.get(name)
        if old != new:
            raise InvalidArgumentError(
                f"{path} is of {run.work} with {name} {old}, not {new}:"
                f" resume with {name} {old}, or start without resuming"
            )
    if saved.corpus != run.corpus:
        raise InvalidArgumentError(
            f"{path} is of {run.work} on another corpus:"
            " resume with that corpus, or start without resuming"
        )


def discard_checkpoint(path: Path) -> None:
    """Remove the checkpoint of a finished run, and what a killed process has left of one."""
    try:
        path.unlink(missing_ok=True)
        remove_leftovers(path)
    except OSError as error:
        raise InvalidFileError(f"{path} cannot be removed: {error.strerror or error}") from error


class Checkpointer:
    """Saves the checkpoints of one run; `restored` is the one it resumes from, or None.

    If a run starts anew where a checkpoint is left over, a warning says so, and the old checkpoint
    stays until a new one replaces it. Without a path nothing is saved.
    """

    def __init__(self, path: Path | None, run: RunFingerprint, *, resume: bool) -> None:
        if resume and path is None:
            raise InvalidArgumentError("resume needs a checkpoint: name its path")
        self.path, self.run = path, run
        self.restored = open_checkpoint(path, run) if path and resume else None
        self._last_saved = monotonic()
        if path and path.exists() and not resume:
            warn(
                f"{path} is left over from {run.work} that was interrupted:"
                " this one does not resume it and will replace it"
            )

    @property
    def is_due(self) -> bool:
        """Whether the last checkpoint is older than `SAVE_EVERY`."""
        return self.path is not None and monotonic() - self._last_saved >= SAVE_EVERY

    def until_due(self, steps: Iterable[int]) -> Iterator[int]:
        """Yield steps until a checkpoint is due, at least one."""
        for step in steps:
            yield step
            if self.is_due:
                return

    def save(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint."""
        if self.path is not None:
            save_checkpoint(self.path, checkpoint, self.run)
            self._last_saved = monotonic()
