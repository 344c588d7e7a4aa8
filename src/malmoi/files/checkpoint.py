"""Long work that can be taken up again: how far it is, in a file beside the one to be written.

A checkpoint is arrays by name and a small state of numbers and strings, written whole, with what
the work was given: only the same settings and the same corpus can go on from it. A safetensors
file whose `__metadata__` holds, as JSON, `settings`, `corpus` and `state`. Knows nothing of what
is done: a training, mostly.
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
from malmoi.files.output import remove_left_over
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import Kind, read_tensor_file, write_tensor_file
from malmoi.files.tensors import Tensors, damage
from malmoi.vocabulary import Vocabulary

KIND = Kind("checkpoint", "a checkpoint")
PAUSE = 60.0  # seconds of work that may be lost

State = dict[str, Any]  # what JSON holds: numbers, strings, lists and dicts of them


@dataclass(frozen=True)
class RunFingerprint:
    """What the work was given: the settings by name, and a digest of the corpus."""

    settings: State
    corpus: str
    work: str = "a training"

    @classmethod
    def of(cls, settings: Any, ids: npt.NDArray[Any], vocabulary: Vocabulary) -> "RunFingerprint":
        """The origin of a training with a dataclass of settings on a stream of ids."""
        digest = blake2b(digest_size=16)
        words = vocabulary.words
        for array in (ids, words.packed, words.offsets, vocabulary.counts):
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
        named = {"method": type(settings).__name__, **asdict(settings)}
        return cls(json.loads(json.dumps(named)), digest.hexdigest())


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """How far the work is: its arrays, and the rest of what it must remember."""

    tensors: Tensors
    state: State
    path: Path | None = None  # where it was read from

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Whatever goes wrong in going on from it, said of the file."""
        try:
            with damage(self.path or Path("checkpoint")):
                yield
        except RuntimeError as error:  # torch's word for tensors that do not fit
            raise InvalidFileError(
                f"{self.path} is damaged: {error}: begin without resuming"
            ) from error

    def copy_to(self, arrays: Tensors) -> None:
        """Let arrays hold what they did when the checkpoint was made."""
        for name, array in arrays.items():
            saved = self.tensors.get(name)
            if saved is None or (saved.shape, saved.dtype) != (array.shape, array.dtype):
                raise InvalidFileError(
                    f"{self.path} is damaged: '{name}' is not {array.dtype} {list(array.shape)}:"
                    " begin without resuming"
                )
            array[...] = saved


def checkpoint_path(out: Path) -> Path:
    """Where the work that will write `out` leaves its checkpoints."""
    return out.with_name(f"{out.name}.checkpoint")


def save_checkpoint(path: Path, checkpoint: Checkpoint, origin: RunFingerprint) -> None:
    """Write a checkpoint in place of the one before; whatever happens, one of them is there."""
    metadata = {
        "settings": json.dumps(origin.settings),
        "corpus": origin.corpus,
        "state": json.dumps(checkpoint.state),
    }
    write_tensor_file(path, KIND, checkpoint.tensors, metadata)


def open_checkpoint(path: Path, origin: RunFingerprint) -> Checkpoint:
    """The checkpoint of work that was given the same; the arrays are copies."""
    if not path.exists():
        raise InvalidFileError(f"there is no {path} to resume from: begin without resuming")
    tensors, metadata = read_tensor_file(InputFile(path), KIND)
    with damage(path):
        found = RunFingerprint(dict(json.loads(metadata["settings"])), metadata["corpus"])
        state = dict(json.loads(metadata["state"]))
    refuse_another(path, found, origin)
    return Checkpoint({name: array.copy() for name, array in tensors.items()}, state, path)


def refuse_another(path: Path, found: RunFingerprint, origin: RunFingerprint) -> None:
    """Only the same work goes on as if it had never stopped."""
    for name in origin.settings | found.settings:
        old, new = found.settings.get(name), origin.settings.get(name)
        if old != new:
            raise InvalidArgumentError(
                f"{path} is of {origin.work} with {name} {old}, not {new}:"
                f" resume with {name} {old}, or begin without resuming"
            )
    if found.corpus != origin.corpus:
        raise InvalidArgumentError(
            f"{path} is of {origin.work} on another corpus:"
            " resume with that one, or begin without resuming"
        )


def discard_checkpoint(path: Path) -> None:
    """Remove a checkpoint that has served its purpose, and half of one, if there is any."""
    try:
        path.unlink(missing_ok=True)
        remove_left_over(path)
    except OSError as error:
        raise InvalidFileError(f"{path} cannot be removed: {error.strerror or error}") from error


class Checkpointer:
    """The checkpoints of one work: `found` is where it goes on, new ones come now and then.

    A checkpoint that is left over when the work begins anew is told of, and stays until
    there is a new one to replace it. Without a path nothing is kept.
    """

    def __init__(self, path: Path | None, origin: RunFingerprint, *, resume: bool) -> None:
        if resume and path is None:
            raise InvalidArgumentError("there is nothing to resume from: name the checkpoint")
        self.path, self.origin = path, origin
        self.found = open_checkpoint(path, origin) if path and resume else None
        self._last = monotonic()
        if path and path.exists() and not resume:
            warn(
                f"{path} is left over from {origin.work} that was broken off:"
                " this one does not resume it and will replace it"
            )

    @property
    def is_due(self) -> bool:
        """Whether much would be lost by now."""
        return self.path is not None and monotonic() - self._last >= PAUSE

    def until_due(self, parts: Iterable[int]) -> Iterator[int]:
        """Parts of the work up to the moment when a checkpoint is due, one at least."""
        for part in parts:
            yield part
            if self.is_due:
                return

    def save(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint."""
        if self.path is not None:
            save_checkpoint(self.path, checkpoint, self.origin)
            self._last = monotonic()
