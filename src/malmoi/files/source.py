"""An input file: decompressed on the fly, read in blocks or memory-mapped.

Knows nothing about what the bytes mean.
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

BLOCK_BYTES = 16 << 20
HEAD_BYTES = 1 << 20
GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"


class InputFile:
    """A file on disk, plain or compressed with gzip or zstd."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._zstd = False
        check_name(path)
        with self._read_errors():
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
        """The first bytes, decompressed: enough to detect the format."""
        with self._read_errors(), self.path.open("rb") as raw:
            return self._decompressed(raw).read(HEAD_BYTES)

    @property
    def is_whole(self) -> bool:
        """Whether `head` is the whole file."""
        return len(self.head) < HEAD_BYTES

    def blocks(
        self, start: int = 0, stop: int | None = None, size: int | None = None
    ) -> Iterator[tuple[UInt8Array, int]]:
        """The bytes from `start` to `stop` in blocks, each with the bytes of the file read so far.

        A thread reads (and decompresses) the next block while the caller processes the last one.
        """
        with self._read_errors(), self.path.open("rb") as raw, ThreadPoolExecutor(1) as ahead:
            file = self._decompressed(raw)
            if self.compressed:
                file.read(start)
            else:
                file.seek(start)

            def read() -> tuple[UInt8Array, int]:
                max_bytes = size or BLOCK_BYTES
                length = max_bytes if stop is None else min(max_bytes, stop - file.tell())
                buffer = np.empty(length, dtype=np.uint8)
                count = file.readinto(buffer.data)  # type: ignore[attr-defined]
                return buffer[:count], raw.tell()

            next_block = ahead.submit(read)
            while True:
                block, done = next_block.result()
                if not len(block):
                    return
                next_block = ahead.submit(read)
                yield block, done

    @cached_property
    def mapped(self) -> UInt8Array:
        """The whole file, memory-mapped; of a compressed one, a decompressed temporary copy."""
        with self._read_errors():
            if not self.compressed:
                return np.memmap(self.path, dtype=np.uint8, mode="r").view(np.ndarray)
            with tempfile.TemporaryFile() as copy:
                for block, _ in self.blocks():
                    copy.write(block.data)
                copy.flush()
                return np.memmap(copy, dtype=np.uint8, mode="r").view(np.ndarray)

    def line_start(self, position: int) -> int:
        """Where the first line begins at or after a position, in an uncompressed file."""
        with self._read_errors(), self.path.open("rb") as raw:
            raw.seek(position - 1)
            while block := raw.read(1 << 16):
                line_end = block.find(b"\n")
                if line_end >= 0:
                    return raw.tell() - len(block) + line_end + 1
        return self.size

    def _decompressed(self, raw: BinaryIO) -> BinaryIO:
        if self._zstd:
            return cast(BinaryIO, io.BufferedReader(ZstdStream(raw)))
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if self.compressed else raw

    def _decompression_errors(self) -> tuple[type[Exception], ...]:
        kinds: tuple[type[Exception], ...] = (EOFError, gzip.BadGzipFile, zlib.error)
        if self._zstd:
            kinds += (require("zstandard", extra="zstd").ZstdError,)
        return kinds

    @contextmanager
    def _read_errors(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise InvalidFileError(f"{self.path} does not exist") from error
        except self._decompression_errors() as error:
            kind = "zstd" if self._zstd else "gzip"
            raise InvalidFileError(f"{self.path} is a damaged or truncated {kind} file") from error
        except OSError as error:
            raise InvalidFileError(
                f"{self.path} cannot be read: {error.strerror or error}"
            ) from error


def check_name(path: Path) -> None:
    """Raise `InvalidFileError` for a name that no file can have."""
    if "\0" in str(path):
        raise InvalidFileError(f"{str(path)!r} cannot be the name of a file")


class ZstdStream(io.RawIOBase):
    """A zstd file decompressed on the fly; a truncated one raises `EOFError`, as with gzip."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw, self._bytes_read = raw, 0
        self._new_frame = require("zstandard", extra="zstd").ZstdDecompressor().decompressobj
        self._frame, self._unused, self._output = self._new_frame(), b"", b""

    def readable(self) -> bool:
        """Whether the stream can be read: always."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Decompress into the buffer; returns how many bytes were written."""
        while not self._output:
            packed = self._unused or self._raw.read(1 << 16)
            if not packed:
                if not self._frame.eof and self._bytes_read:
                    raise EOFError
                return 0
            if self._frame.eof:
                self._frame = self._new_frame()
            self._bytes_read += len(packed)
            self._output = self._frame.decompress(packed)
            self._unused = self._frame.unused_data if self._frame.eof else b""
        size = min(len(buffer), len(self._output))
        buffer[:size] = self._output[:size]
        self._output = self._output[size:]
        return size
