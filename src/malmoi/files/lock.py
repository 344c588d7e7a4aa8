"""A lock on a folder that one process holds at a time, and that dies with it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from malmoi.errors import BadFile

NAME = "lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; refused at once while somebody else does.

    The system lets go of it when the process ends, however it ends. Where it has no such locks
    (Windows) nobody is kept out.
    """
    try:
        number = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise BadFile(f"{folder} cannot be written: {error.strerror or error}") from error
    try:
        _lock(number, folder)
        os.ftruncate(number, 0)
        os.pwrite(number, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(number)  # which lets go of the lock


def _lock(number: int, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(number, 20, 0).decode(errors="replace")
        raise BadFile(
            f"{folder} is being written by another process ({holder}): try again when it is done"
        ) from error
