"""What the commands that work for long share: going on, being interrupted, what it takes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.errors import MalmoiError, warn
from malmoi.files.checkpoint import checkpoint_path, discard_checkpoint
from malmoi.files.lock import locked_file
from malmoi.files.targets import check_folder

Resume = Annotated[
    bool,
    Parameter(
        negative="", show_default=False, help="Go on from the checkpoint of a broken-off training."
    ),
]


@contextmanager
def resumable(out: Path) -> Iterator[Path]:
    """Where the work that writes `out` leaves its checkpoints: gone once all is done.

    They stay when anything goes wrong; who interrupts the work is told how to go on, and so is
    who meets an error after a new one was written. A second process that would write the same
    file, and so the same checkpoint, is refused.
    """
    check_folder(out)
    with locked_file(out), _kept(checkpoint_path(out)) as path:
        yield path


@contextmanager
def _kept(path: Path) -> Iterator[Path]:
    before = _written(path)
    try:
        yield path
    except (KeyboardInterrupt, MalmoiError) as error:
        known = None if isinstance(error, KeyboardInterrupt) else before
        if _written(path) not in (None, known):
            warn(f"{path} is kept: run the same command with --resume to continue from there")
        raise
    discard_checkpoint(path)


def _written(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None
