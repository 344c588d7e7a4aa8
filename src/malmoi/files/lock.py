"""Locks that one process holds at a time, released when it ends.

The system releases a lock when the process ends, however it ends. On systems without such locks
(Windows) every process gets in.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from malmoi.errors import InvalidFileError
from malmoi.files.output import invalid_file_on_os_error

LOCK_NAME = "lock"


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; raise `InvalidFileError` at once if another process holds it."""
    with _hold(folder / LOCK_NAME, folder):
        yield


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Be the only process that writes a file; the hidden lock file beside it is removed then."""
    lock = path.with_name(f".{path.name}.lock")
    with _hold(lock, path):
        try:
            yield
        finally:
            with suppress(OSError):  # a lock file left behind does no harm
                lock.unlink(missing_ok=True)


@contextmanager
def _hold(lock: Path, protected: Path) -> Iterator[None]:
    """Hold a lock file; errors name the path that it protects."""
    with invalid_file_on_os_error(protected):
        descriptor = _open(lock, protected)
    try:
        with invalid_file_on_os_error(protected):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)  # releases the lock


def _open(lock: Path, protected: Path) -> int:
    """Open and lock a file that still exists: its last holder may have just removed it."""
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(descriptor, protected)
            if os.name != "posix" or (
                lock.exists() and os.path.samestat(os.fstat(descriptor), lock.stat())
            ):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _lock(descriptor: int, protected: Path) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(descriptor, 20, 0).decode(errors="replace")
        raise InvalidFileError(
            f"{protected} is being written by another process ({holder}): try again when it is done"
        ) from error
