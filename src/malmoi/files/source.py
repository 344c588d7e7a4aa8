"""A file to read: opened, unzipped on the fly, handed out in blocks or memory-mapped.

Knows nothing of what the bytes mean.
"""

import gzip
import io
import tempfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from malmoi.arrays import UInt8Array
from malmoi.errors import InvalidFileError
from malmoi.extras import require

BLOCK = 16 << 20
HEAD = 1 << 20
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"


class InputFile:
    """One file on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._zstd = False
        check_name(path)
        with self._complaints():
            if path.is_dir():
                raise InvalidFileError(f"{path} is a folder: name the file inside it")
            self.size = path.stat().st_size
            if self.size == 0:
                raise InvalidFileError(f"{path} is empty")
            with path.open("rb") as file:
                start = file.read(4)
            self.compressed = start.startswith((GZIP, ZSTD))
            self._zstd = start.startswith(ZSTD)

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unzipped: enough to tell what it is."""
        with self._complaints(), self.path.open("rb") as raw:
            return self._unzipped(raw).read(HEAD)

    @property
    def is_whole(self) -> bool:
        """Whether the head is all there is."""
        return len(self.head) < HEAD

    def blocks(
        self, start: int = 0, stop: int | None = None, size: int | None = None
    ) -> Iterator[tuple[UInt8Array, int]]:
        """The bytes from `start` to `stop` in blocks, each with how much of the file is read.

        The next block is read (and unzipped) while the caller works on the last one.
        """
        with self._complaints(), self.path.open("rb") as raw, ThreadPoolExecutor(1) as ahead:
            file = self._unzipped(raw)
            if self.compressed:
                file.read(start)
            else:
                file.seek(start)

            def read() -> tuple[UInt8Array, int]:
                most = size or BLOCK
                left = most if stop is None else min(most, stop - file.tell())
                room = np.empty(left, dtype=np.uint8)
                return room[: file.readinto(room.data)], raw.tell()  # type: ignore[attr-defined]

            following = ahead.submit(read)
            while True:
                block, done = following.result()
                if not len(block):
                    return
                following = ahead.submit(read)
                yield block, done

    @cached_property
    def mapped(self) -> UInt8Array:
        """The whole file, memory-mapped (through an unzipped temporary copy if need be)."""
        with self._complaints():
            if not self.compressed:
                return np.memmap(self.path, dtype=np.uint8, mode="r").view(np.ndarray)
            with tempfile.TemporaryFile() as copy:
                for block, _ in self.blocks():
                    copy.write(block.data)
                copy.flush()
                return np.memmap(copy, dtype=np.uint8, mode="r").view(np.ndarray)

    def line_start(self, at: int) -> int:
        """The position of the first line that begins at or after `at` in a file not zipped."""
        with self._complaints(), self.path.open("rb") as raw:
            raw.seek(at - 1)
            while block := raw.read(1 << 16):
                place = block.find(b"\n")
                if place >= 0:
                    return raw.tell() - len(block) + place + 1
        return self.size

    def _unzipped(self, raw: BinaryIO) -> BinaryIO:
        if self._zstd:
            return cast(BinaryIO, io.BufferedReader(ZstdStream(raw)))
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if self.compressed else raw

    def _damage(self) -> tuple[type[Exception], ...]:
        kinds: tuple[type[Exception], ...] = (EOFError, gzip.BadGzipFile, zlib.error)
        if self._zstd:
            kinds += (require("zstandard", extra="zstd").ZstdError,)
        return kinds

    @contextmanager
    def _complaints(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise InvalidFileError(f"{self.path} does not exist") from error
        except self._damage() as error:
            kind = "zstd" if self._zstd else "gzip"
            raise InvalidFileError(f"{self.path} is a damaged or cut-off {kind} file") from error
        except OSError as error:
            raise InvalidFileError(
                f"{self.path} cannot be read: {error.strerror or error}"
            ) from error


def check_name(path: Path) -> None:
    """Refuse what no system takes for the name of a file."""
    if "\0" in str(path):
        raise InvalidFileError(f"{str(path)!r} cannot be the name of a file")


class ZstdStream(io.RawIOBase):
    """A zstd file unpacked on the fly; one that is cut short is an error, as with gzip."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw, self._at = raw, 0
        self._new = require("zstandard", extra="zstd").ZstdDecompressor().decompressobj
        self._frame, self._rest, self._ready = self._new(), b"", b""

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, room: bytearray | memoryview) -> int:  # type: ignore[override]
        """Unpack as much as is there."""
        while not self._ready:
            packed = self._rest or self._raw.read(1 << 16)
            if not packed:
                if not self._frame.eof and self._at:
                    raise EOFError
                return 0
            if self._frame.eof:
                self._frame = self._new()
            self._at += len(packed)
            self._ready = self._frame.decompress(packed)
            self._rest = self._frame.unused_data if self._frame.eof else b""
        size = min(len(room), len(self._ready))
        room[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size
