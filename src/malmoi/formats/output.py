"""A file to write: made beside its place and renamed, so that it is whole or not there.

Knows nothing of what the bytes mean.
"""

import errno
import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from malmoi.errors import BadFile

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A name next to `path` to write under; it becomes `path` if nothing goes wrong."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if path.is_dir():
            raise BadFile(f"{path} is a folder: name a file to write")
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.chmod(_mode(path))
        part.replace(path)
    except OSError as error:
        raise BadFile(_complaint(path, error)) from error
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """A stream that becomes the file `path` once it is whole; zipped if the name says so."""
    with beside(path) as part, part.open("wb") as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile("", "wb", compresslevel=3, fileobj=raw, mtime=0) as packed:
                yield cast(BinaryIO, packed)
        else:
            yield raw


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those of any new file."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _complaint(path: Path, error: OSError) -> str:
    if error.errno in FULL:
        return f"{path} was not written: the disk is full"
    if isinstance(error, FileNotFoundError) and not path.parent.exists():
        return f"{path} was not written: there is no folder {path.parent}"
    return f"{path} was not written: {error.strerror or error}"
