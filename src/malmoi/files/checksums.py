"""Checksums of the blocks of a file, each verified before its bytes are first used.

CRC-32 of every 64 KB. Verifying takes about half a second per gigabyte and core, which a file of
any size must not cost when it is opened; so a block is verified when somebody touches it, once per
process. Knows nothing of what the bytes mean.
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

BLOCK = 1 << 16
SPAN = 128  # blocks that a thread verifies at a time


def block_sums(parts: Iterable[memoryview]) -> UInt32Array:
    """The checksum of each block of the parts end to end."""
    sums, sum_, left = list[int](), 0, BLOCK
    for part in parts:
        at = 0
        while at < len(part):
            piece = part[at : at + left]
            sum_, at, left = zlib.crc32(piece, sum_), at + len(piece), left - len(piece)
            if left == 0:
                sums.append(sum_)
                sum_, left = 0, BLOCK
    if left < BLOCK:
        sums.append(sum_)
    return np.array(sums, np.uint32)


def sums_as_text(sums: UInt32Array) -> str:
    """For a header: the size of a block, then the checksums as little-endian u32 in base64."""
    return f"{BLOCK} {base64.b64encode(sums.astype('<u4').tobytes()).decode()}"


def sums_from_text(text: str) -> UInt32Array:
    """The checksums in a header."""
    size, _, encoded = text.partition(" ")
    if size != str(BLOCK):
        raise InvalidArgumentError(f"its checksums are of blocks of {size} bytes, not of {BLOCK:,}")
    return np.frombuffer(base64.b64decode(encoded, validate=True), "<u4")


def json_sum(value: object) -> str:
    """The CRC-32 of what JSON says, however it is written."""
    return f"{zlib.crc32(json.dumps(value, sort_keys=True).encode()):08x}"


def file_sum(path: Path) -> int:
    """The CRC-32 of a whole file."""
    total = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            total = zlib.crc32(block, total)
    return total


class Blocks:
    """The bytes of a mapped file with their checksums, and which of them were verified."""

    def __init__(self, body: UInt8Array, sums: UInt32Array, path: Path) -> None:
        if len(sums) != -(-len(body) // BLOCK):
            raise InvalidArgumentError(
                f"there are checksums for {len(sums):,} blocks of {len(body):,} bytes"
            )
        self.path, self.size = path, len(body)
        self._memory, self._sums = body.data, sums
        self._verified = bytearray(len(sums))

    def __len__(self) -> int:
        return len(self._sums)

    def verify(self, start: int, stop: int) -> None:
        """Refuse bytes that are not those that were written, unless they were verified before."""
        if start >= stop:
            return
        first, last = start // BLOCK, -(-stop // BLOCK)
        if 0 not in self._verified[first:last]:
            return
        spans = [(at, min(at + SPAN, last)) for at in range(first, last, SPAN)]
        if len(spans) == 1:
            self._verify(spans[0])
            return
        with ThreadPoolExecutor(threads()) as pool:  # CRC-32 runs without the interpreter's lock
            for _ in pool.map(self._verify, spans):
                pass

    def verify_all(self) -> None:
        """Refuse a file of which any byte is not the one that was written."""
        self.verify(0, len(self._memory))

    def _verify(self, span: tuple[int, int]) -> None:
        for block in range(*span):
            if not self._verified[block]:
                at = block * BLOCK
                if zlib.crc32(self._memory[at : at + BLOCK]) != self._sums[block]:
                    raise InvalidFileError(
                        f"{self.path} is damaged: the checksum of block {block:,} of its"
                        f" {len(self._sums):,} is wrong: take it from a backup or make it again"
                    )
                self._verified[block] = 1


def touched(rows: Any, count: int, width: int) -> list[tuple[int, int]]:
    """The spans of bytes that some of `count` rows of `width` bytes take; near ones are one."""
    if isinstance(rows, int | np.integer):
        row = int(rows) + count if rows < 0 else int(rows)
        return [(row * width, (row + 1) * width)]
    if isinstance(rows, slice):
        start, stop, step = rows.indices(count)
        if step == 1:
            return [(start * width, max(start, stop) * width)]
    chosen = np.unique(np.arange(count)[rows])
    breaks = np.flatnonzero(np.diff(chosen) * width > BLOCK) + 1
    runs = np.split(chosen, breaks) if len(chosen) else []
    return [(int(run[0]) * width, (int(run[-1]) + 1) * width) for run in runs]


def threads() -> int:
    """How many threads verify: one per core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
