"""Checksums of the blocks of a file, each verified before its bytes are first used.

CRC-32 of every 64 KB. Verifying takes about half a second per gigabyte and core, too long to open
a large file; so a block is verified when it is first used, once per process. Knows nothing about
what the bytes mean.
"""

import base64
import json
import os
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import UInt8Array, UInt32Array
from malmoi.errors import InvalidArgumentError, InvalidFileError

BLOCK_BYTES = 1 << 16
BLOCKS_PER_TASK = 128  # that a thread verifies at a time


def block_checksums(parts: Iterable[memoryview]) -> UInt32Array:
    """The checksum of each block of the concatenated parts."""
    checksums, checksum, missing = list[int](), 0, BLOCK_BYTES
    for part in parts:
        position = 0
        while position < len(part):
            chunk = part[position : position + missing]
            checksum = zlib.crc32(chunk, checksum)
            position, missing = position + len(chunk), missing - len(chunk)
            if missing == 0:
                checksums.append(checksum)
                checksum, missing = 0, BLOCK_BYTES
    if missing < BLOCK_BYTES:
        checksums.append(checksum)
    return np.array(checksums, np.uint32)


def encode_checksums(checksums: UInt32Array) -> str:
    """For a header: the size of a block, then the checksums as little-endian u32 in base64."""
    return f"{BLOCK_BYTES} {base64.b64encode(checksums.astype('<u4').tobytes()).decode()}"


def decode_checksums(text: str) -> UInt32Array:
    """The checksums in a header."""
    size, _, encoded = text.partition(" ")
    if size != str(BLOCK_BYTES):
        raise InvalidArgumentError(
            f"its checksums are of blocks of {size} bytes, not of {BLOCK_BYTES:,}"
        )
    return np.frombuffer(base64.b64decode(encoded, validate=True), "<u4")


def json_checksum(value: object) -> str:
    """The CRC-32 of a JSON value, independent of its formatting and the order of its keys."""
    return f"{zlib.crc32(json.dumps(value, sort_keys=True).encode()):08x}"


def file_checksum(path: Path) -> int:
    """The CRC-32 of a whole file."""
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            checksum = zlib.crc32(block, checksum)
    return checksum


class Blocks:
    """The bytes of a mapped file with their checksums, and which blocks have been verified."""

    def __init__(self, body: UInt8Array, checksums: UInt32Array, path: Path) -> None:
        if len(checksums) != -(-len(body) // BLOCK_BYTES):
            raise InvalidArgumentError(
                f"there are checksums for {len(checksums):,} blocks of {len(body):,} bytes"
            )
        self.path, self.size = path, len(body)
        self._memory, self._checksums = body.data, checksums
        self._is_verified = bytearray(len(checksums))

    def __len__(self) -> int:
        return len(self._checksums)

    def verify(self, start: int, stop: int) -> None:
        """Raise `InvalidFileError` if a block of these bytes is damaged; each is read once."""
        if start >= stop:
            return
        first, last = start // BLOCK_BYTES, -(-stop // BLOCK_BYTES)
        if 0 not in self._is_verified[first:last]:
            return
        spans = [
            (block, min(block + BLOCKS_PER_TASK, last))
            for block in range(first, last, BLOCKS_PER_TASK)
        ]
        if len(spans) == 1:
            self._verify(spans[0])
            return
        with ThreadPoolExecutor(num_threads()) as pool:  # CRC-32 releases the interpreter's lock
            for _ in pool.map(self._verify, spans):
                pass

    def verify_all(self) -> None:
        """Raise `InvalidFileError` if any block is damaged."""
        self.verify(0, len(self._memory))

    def _verify(self, span: tuple[int, int]) -> None:
        for block in range(*span):
            if not self._is_verified[block]:
                start = block * BLOCK_BYTES
                if zlib.crc32(self._memory[start : start + BLOCK_BYTES]) != self._checksums[block]:
                    raise InvalidFileError(
                        f"{self.path} is damaged: the checksum of block {block:,} of its"
                        f" {len(self._checksums):,} is wrong: restore it from a backup or make it"
                        " again"
                    )
                self._is_verified[block] = 1


def byte_spans(rows: Any, count: int, width: int) -> list[tuple[int, int]]:
    """The spans of bytes of some of `count` rows of `width` bytes; adjacent rows are merged."""
    if isinstance(rows, int | np.integer):
        row = int(rows) + count if rows < 0 else int(rows)
        return [(row * width, (row + 1) * width)]
    if isinstance(rows, slice):
        start, stop, step = rows.indices(count)
        if step == 1:
            return [(start * width, max(start, stop) * width)]
    selected = np.asarray(rows) if isinstance(rows, list | np.ndarray) else np.arange(count)[rows]
    if selected.dtype == np.bool_:
        selected = np.flatnonzero(selected)
    indices = np.unique(np.where(selected < 0, selected + count, selected).astype(np.int64))
    breaks = np.flatnonzero(np.diff(indices) * width > BLOCK_BYTES) + 1
    runs = np.split(indices, breaks) if len(indices) else []
    return [(int(run[0]) * width, (int(run[-1]) + 1) * width) for run in runs]


def num_threads() -> int:
    """One thread per core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
