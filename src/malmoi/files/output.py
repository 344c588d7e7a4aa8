"""Atomic output files: written under a temporary name and renamed, so they are whole or absent.

Each writer, a process or a thread, has its own temporary file. A process that is killed leaves
its file behind, hidden; the next writer of the same file removes it. Knows nothing about what the
bytes mean.
"""

import errno
import gzip
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from pathlib import Path
from platform import node
from typing import BinaryIO, cast

from malmoi.errors import InvalidFileError
from malmoi.files.source import check_name

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_write(*paths: Path) -> Iterator[list[Path]]:
    """Temporary paths beside `paths` to write to; on success they are renamed to `paths`."""
    for path in paths:
        check_name(path)
    targets = [Path(os.path.realpath(path)) for path in paths]  # replaces the target of a link
    writer = f"{os.getpid()}-{secrets.token_hex(8)}"
    parts = [_part_path(target, writer) for target in targets]
    try:
        with invalid_file_on_os_error(paths[0]):
            for target in targets:
                if target.is_dir():
                    raise InvalidFileError(f"{target} is a folder: name a file to write")
            yield parts
            move_into_place(parts, targets)
    finally:
        for part in parts:
            _remove(part)


def move_into_place(parts: Sequence[Path], targets: Sequence[Path]) -> None:
    """Flush complete files to the disk and rename them to their targets."""
    for part in parts:
        with part.open("rb") as file:
            os.fsync(file.fileno())
    for part, target in zip(parts, targets, strict=True):
        if target.exists():  # a new file has the right permissions already
            part.chmod(target.stat().st_mode & 0o777)
        part.replace(target)
        remove_leftovers(target)
    for folder in {target.parent for target in targets}:
        _sync_folder(folder)


@contextmanager
def invalid_file_on_os_error(path: Path) -> Iterator[None]:
    """Turn an `OSError` while writing a file into an `InvalidFileError` that names the file."""
    try:
        yield
    except OSError as error:
        raise InvalidFileError(_describe(path, error)) from error


def _sync_folder(folder: Path) -> None:
    """Flush a folder: a new name survives a power failure only if its folder is on the disk."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def open_output(*paths: Path) -> Iterator[list[BinaryIO]]:
    """Streams that become files once all are complete; those named .gz are compressed."""
    with atomic_write(*paths) as parts, ExitStack() as stack:
        yield [
            stack.enter_context(_open_stream(part, compress=path.suffix == ".gz"))
            for path, part in zip(paths, parts, strict=True)
        ]


@contextmanager
def _open_stream(part: Path, *, compress: bool) -> Iterator[BinaryIO]:
    with part.open("wb") as raw:
        if compress:
            with gzip.GzipFile("", "wb", compresslevel=3, fileobj=raw, mtime=0) as packed:
                yield cast(BinaryIO, packed)
        else:
            yield raw


def _part_path(target: Path, writer: str) -> Path:
    """The temporary path of a writer (process id and random number)."""
    digest = blake2b(f"{node()}/{target.name}".encode(errors="surrogateescape"), digest_size=6)
    return target.with_name(f".{digest.hexdigest()}.{writer}.part")


def remove_leftovers(target: Path) -> None:
    """Remove the temporary files of the same target that killed processes have left."""
    for part in target.parent.glob(_part_path(target, "*").name):
        if is_left_over(part):
            _remove(part)


def is_left_over(part: Path) -> bool:
    """Whether the process of a temporary path `.NAME.PROCESS-NUMBER.part` is not running."""
    process = part.name.split(".")[-2].partition("-")[0]
    return process.isdecimal() and not _is_alive(int(process))


def _is_alive(process: int) -> bool:
    if os.name != "posix":  # elsewhere os.kill would end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # a process of another user
        return True
    return True


def _remove(part: Path) -> None:
    try:
        part.unlink(missing_ok=True)
    except OSError:  # not a folder, or a name that is too long: no file was created
        return


def _describe(path: Path, error: OSError) -> str:
    if error.errno in DISK_FULL:
        return f"{path} was not written: the disk is full"
    if isinstance(error, FileNotFoundError) and not path.parent.exists():
        return f"{path} was not written: there is no folder {path.parent}"
    return f"{path} was not written: {error.strerror or error}"
