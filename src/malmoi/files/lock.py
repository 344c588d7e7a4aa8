"""Locks that one process holds at a time, and that die with it.

The system releases a lock when the process ends, however it ends. Where there are no such locks
(Windows) every process gets in.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from malmoi.errors import InvalidFileError
from malmoi.files.output import complaints

NAME = "lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock; refused at once while another process does."""
    with _held(folder / NAME, folder):
        yield


@contextmanager
def locked_file(path: Path) -> Iterator[None]:
    """Be the only process to make a file; the lock lies hidden beside it until then."""
    place = path.with_name(f".{path.name}.lock")
    with _held(place, path):
        try:
            yield
        finally:
            with suppress(OSError):  # a lock left behind does no harm
                place.unlink(missing_ok=True)


@contextmanager
def _held(place: Path, what: Path) -> Iterator[None]:
    """Hold the lock that lies in `place`; errors name `what` it protects."""
    with complaints(what):
        number = _open(place, what)
    try:
        with complaints(what):
            os.ftruncate(number, 0)
            os.pwrite(number, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(number)  # which releases the lock


def _open(place: Path, what: Path) -> int:
    """A file that is locked, and still there: whoever held it may just have removed it."""
    while True:
        number = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(number, what)
            if os.name != "posix" or (
                place.exists() and os.path.samestat(os.fstat(number), place.stat())
            ):
                return number
        except BaseException:
            os.close(number)
            raise
        os.close(number)


def _lock(number: int, what: Path) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(number, 20, 0).decode(errors="replace")
        raise InvalidFileError(
            f"{what} is being written by another process ({holder}): try again when it is done"
        ) from error
