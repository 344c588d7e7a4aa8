"""Files to write: made beside their places and renamed, so that they are whole or not there.

Each writer, be it a process or a thread, has a part of its own. A process that is killed leaves
its part behind, hidden; the next one to write the same file removes it. Knows nothing of what the
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

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def beside(*paths: Path) -> Iterator[list[Path]]:
    """Names next to `paths` to write under; they become `paths` if nothing goes wrong."""
    for path in paths:
        check_name(path)
    targets = [Path(os.path.realpath(path)) for path in paths]  # a link goes on pointing there
    writer = f"{os.getpid()}-{secrets.token_hex(8)}"
    parts = [_part(target, writer) for target in targets]
    try:
        with complaints(paths[0]):
            for target in targets:
                if target.is_dir():
                    raise InvalidFileError(f"{target} is a folder: name a file to write")
            yield parts
            put_in_place(parts, targets)
    finally:
        for part in parts:
            _remove(part)


def put_in_place(parts: Sequence[Path], targets: Sequence[Path]) -> None:
    """Files that are whole, under the names they were made for."""
    for part in parts:
        with part.open("rb") as file:
            os.fsync(file.fileno())
    for part, target in zip(parts, targets, strict=True):
        if target.exists():  # a new file has got its permissions when it was made
            part.chmod(target.stat().st_mode & 0o777)
        part.replace(target)
        remove_left_over(target)
    for folder in {target.parent for target in targets}:
        _sync_names(folder)


@contextmanager
def complaints(path: Path) -> Iterator[None]:
    """What goes wrong in writing a file, said in a sentence."""
    try:
        yield
    except OSError as error:
        raise InvalidFileError(_complaint(path, error)) from error


def _sync_names(folder: Path) -> None:
    """A new name lasts through a power cut only once its folder is on the disk too."""
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def written(*paths: Path) -> Iterator[list[BinaryIO]]:
    """Streams that become files once all of them are whole; zipped if the name says so."""
    with beside(*paths) as parts, ExitStack() as opened:
        yield [
            opened.enter_context(_stream(part, zipped=path.suffix == ".gz"))
            for path, part in zip(paths, parts, strict=True)
        ]


@contextmanager
def _stream(part: Path, *, zipped: bool) -> Iterator[BinaryIO]:
    with part.open("wb") as raw:
        if zipped:
            with gzip.GzipFile("", "wb", compresslevel=3, fileobj=raw, mtime=0) as packed:
                yield cast(BinaryIO, packed)
        else:
            yield raw


def _part(target: Path, writer: str) -> Path:
    """Where a writer (process id and random number) puts a file before it is whole."""
    of = blake2b(f"{node()}/{target.name}".encode(errors="surrogateescape"), digest_size=6)
    return target.with_name(f".{of.hexdigest()}.{writer}.part")


def remove_left_over(target: Path) -> None:
    """Remove what processes that were killed have left of the same file."""
    for part in target.parent.glob(_part(target, "*").name):
        process = part.name.split(".")[2].partition("-")[0]
        if process.isdecimal() and not _is_alive(int(process)):
            _remove(part)


def _is_alive(process: int) -> bool:
    if os.name != "posix":  # elsewhere nobody can ask without doing harm
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's
        return True
    return True


def _remove(part: Path) -> None:
    try:
        part.unlink(missing_ok=True)
    except OSError:  # a folder that is none, a name too long: nothing was made there
        return


def _complaint(path: Path, error: OSError) -> str:
    if error.errno in FULL:
        return f"{path} was not written: the disk is full"
    if isinstance(error, FileNotFoundError) and not path.parent.exists():
        return f"{path} was not written: there is no folder {path.parent}"
    return f"{path} was not written: {error.strerror or error}"
