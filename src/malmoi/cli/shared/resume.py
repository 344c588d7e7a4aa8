"""Shared by long-running commands: checkpoints, --resume, memory, waiting threads."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.errors import MalmoiError, warn
from malmoi.files.checkpoint import checkpoint_path, discard_checkpoint
from malmoi.files.lock import file_lock
from malmoi.files.targets import check_writable

Resume = Annotated[
    bool,
    Parameter(
        negative="", show_default=False, help="Resume an interrupted run from its checkpoint."
    ),
]


@contextmanager
def resumable(out: Path) -> Iterator[Path]:
    """The path of the checkpoint of the run that writes `out`; removed when the run succeeds.

    After an interruption, or an error after a checkpoint was written, a warning says how to resume.
    A second process that would write the same file and checkpoint gets an `InvalidFileError`.
    """
    check_writable(out)
    with file_lock(out), _discarded_on_success(checkpoint_path(out)) as path:
        yield path


def discard_leftovers(out: Path) -> None:
    """Remove the checkpoint and the lock of a run that was killed after it had saved `out`."""
    with file_lock(out):
        discard_checkpoint(checkpoint_path(out))


@contextmanager
def _discarded_on_success(path: Path) -> Iterator[Path]:
    before = _modified(path)
    try:
        yield path
    except (KeyboardInterrupt, MalmoiError) as error:
        known = None if isinstance(error, KeyboardInterrupt) else before
        if _modified(path) not in (None, known):
            warn(f"{path} is kept: run the same command with --resume to continue from there")
        raise
    discard_checkpoint(path)


def _modified(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None


def let_threads_sleep() -> None:
    """Let threads of torch that wait for others sleep; call this before torch is imported.

    Otherwise they spin, which on a busy machine takes several times the work itself.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
