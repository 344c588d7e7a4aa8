"""Safetensors files: arrays by name in one file, memory-mapped, written atomically.

    u64 length of the header, the header (JSON), then the bytes of the arrays

Files that we write have checksums in the header's `__metadata__`: `crc32_blocks`, of every block of
the arrays' bytes, and `crc32`, of the header itself. Files without checksums, written by other
programs, are read too. Knows nothing about what the arrays mean.
"""

import json
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from malmoi.arrays import UInt8Array
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.checksums import (
    Blocks,
    block_checksums,
    byte_spans,
    decode_checksums,
    encode_checksums,
    json_checksum,
)
from malmoi.files.output import atomic_write
from malmoi.files.source import InputFile

DTYPES = {
    "BOOL": "?",
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
    "I8": "i1",
    "U8": "u1",
    "I16": "<i2",
    "U16": "<u2",
    "I32": "<i4",
    "U32": "<u4",
    "I64": "<i8",
    "U64": "<u8",
}
BFLOAT16 = "BF16"  # the upper half of a float32; NumPy has no such dtype
DTYPE_NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
VERIFY_LAZILY_ABOVE = 4 << 20  # bytes; so many take 2 ms to verify
METADATA, HEADER_CHECKSUM, BLOCK_CHECKSUMS = "__metadata__", "crc32", "crc32_blocks"
PARSE_ERRORS = (AttributeError, KeyError, IndexError, OverflowError, TypeError, ValueError,
                MemoryError, RecursionError, struct.error)  # fmt: skip
Tensors = dict[str, npt.NDArray[Any]]
Check = Callable[[npt.NDArray[Any]], None]


def no_check(array: npt.NDArray[Any]) -> None:
    """Accept any numbers."""


@dataclass(frozen=True)
class Tensor:
    """An array in a mapped file that is verified when it is used."""

    array: npt.NDArray[Any]
    blocks: Blocks | None  # None: the file has no checksums
    start: int  # of its bytes, counted from the end of the header
    check: Check = no_check  # raises if the numbers are invalid

    def all(self) -> npt.NDArray[Any]:
        """The whole array, verified."""
        if self.blocks is not None:
            self.blocks.verify(self.start, self.start + self.array.nbytes)
            with invalid_file_on_error(self.blocks.path):
                self.check(self.array)
        return self.array

    def rows(self, rows: Any) -> npt.NDArray[Any]:
        """Some rows; only the blocks that hold them are verified."""
        if self.blocks is not None and len(self.array):
            width = self.array.nbytes // len(self.array)
            for first, last in byte_spans(rows, len(self.array), width):
                self.blocks.verify(self.start + first, self.start + last)
        selected: npt.NDArray[Any] = self.array[rows]
        return selected


@dataclass(frozen=True)
class TensorFile:
    """An open file: tensors by name and metadata."""

    path: Path
    tensors: dict[str, Tensor]
    metadata: dict[str, str]
    blocks: Blocks | None
    checksum: str = ""  # of the header, which holds the checksums of all arrays

    @property
    def is_large(self) -> bool:
        """Whether to verify the arrays when they are used, rather than all when it is opened."""
        return self.blocks is not None and self.blocks.size > VERIFY_LAZILY_ABOVE

    def arrays(self) -> Tensors:
        """Every array, verified."""
        if self.blocks is not None:
            self.blocks.verify_all()
        return self.unverified()

    def unverified(self) -> Tensors:
        """Every array, not verified."""
        return {name: tensor.array for name, tensor in self.tensors.items()}


def read_safetensors(source: InputFile) -> tuple[Tensors, dict[str, str]]:
    """Every array as a verified view of the mapped file, and the metadata.

    BF16 arrays are converted to float32 in memory.
    """
    file = open_safetensors(source)
    return file.arrays(), file.metadata


def open_safetensors(source: InputFile) -> TensorFile:
    """Open a file; its header is verified now, its arrays when they are used."""
    with invalid_file_on_error(source.path):
        return _open(source)


@contextmanager
def invalid_file_on_error(path: Path) -> Iterator[None]:
    """Turn whatever fails while parsing a file into an `InvalidFileError` that names the file."""
    try:
        yield
    except PARSE_ERRORS as error:
        raise damaged_file_error(path, error) from error


def damaged_file_error(path: Path, error: Exception) -> InvalidFileError:
    """The error for a file whose content is inconsistent."""
    reason = str(error)
    if not isinstance(error, InvalidArgumentError):
        reason = f"its header is wrong ({type(error).__name__}: {error})"
    return InvalidFileError(f"{path} is damaged: {reason}")


def _open(source: InputFile) -> TensorFile:
    if source.compressed:
        raise InvalidArgumentError("it is compressed but must be memory-mapped: decompress it")
    (length,) = struct.unpack_from("<Q", source.head)
    if length > source.size - 8:
        raise InvalidArgumentError(
            f"the header should take {length:,} bytes of a file of {source.size:,}"
        )
    header = json.loads(bytes(source.mapped[8 : 8 + length]))
    body = source.mapped[8 + length :]
    metadata = header.get(METADATA, {})
    if not all(isinstance(text, str) for text in metadata.values()):
        raise InvalidArgumentError("its metadata are not strings")
    checksum = metadata.get(HEADER_CHECKSUM, "")
    blocks = _blocks(header, body, source.path)
    del header[METADATA]
    tensors = {name: _tensor(name, entry, body, blocks) for name, entry in header.items()}
    return TensorFile(source.path, tensors, metadata, blocks, checksum)


def _blocks(header: dict[str, Any], body: UInt8Array, path: Path) -> Blocks | None:
    """Verify a header and remove its checksums from it; None if it has none."""
    metadata = header.setdefault(METADATA, {})
    if HEADER_CHECKSUM not in metadata and BLOCK_CHECKSUMS not in metadata:
        return None
    expected = metadata.pop(HEADER_CHECKSUM, "")
    if json_checksum(header) != expected:
        raise InvalidArgumentError("the checksum of its header is wrong")
    return Blocks(body, decode_checksums(metadata.pop(BLOCK_CHECKSUMS)), path)


def _tensor(name: str, entry: dict[str, Any], body: UInt8Array, blocks: Blocks | None) -> Tensor:
    first, last = entry["data_offsets"]
    shape, dtype = entry["shape"], _dtype(entry["dtype"])
    if min(shape, default=0) < 0:
        raise InvalidArgumentError(f"'{name}' has the shape {shape}")
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if not 0 <= first <= last <= len(body) or last - first != size:
        raise InvalidArgumentError(
            f"'{name}' should take {size:,} bytes up to {last:,} of {len(body):,}"
        )
    array = np.frombuffer(body, dtype, size // dtype.itemsize, first).reshape(shape)
    if entry["dtype"] == BFLOAT16:
        if blocks is not None:
            blocks.verify(first, last)
        return Tensor(_bfloat16_to_float32(array), None, 0)
    return Tensor(array, blocks, first)


def _dtype(name: str) -> np.dtype[Any]:
    if name not in DTYPES and name != BFLOAT16:
        raise InvalidArgumentError(f"it holds numbers of the unknown type '{name}'")
    return np.dtype(DTYPES.get(name, "<u2"))


def _bfloat16_to_float32(halves: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Append 16 zero bits to each number."""
    return (halves.astype("<u4") << 16).view("<f4")


def write_safetensors(
    path: Path, tensors: Mapping[str, npt.NDArray[Any] | None], metadata: Mapping[str, str]
) -> None:
    """Write the arrays that are not None. The same arrays make the same file, byte for byte."""
    arrays = {name: array for name, array in tensors.items() if array is not None}
    with atomic_write(path) as (part,), part.open("wb") as file:
        write_to_stream(file, arrays, metadata)


def write_to_stream(file: BinaryIO, arrays: Tensors, metadata: Mapping[str, str]) -> None:
    """Write header and arrays; those with the largest numbers first, so that all are aligned.

    The package safetensors is not used: it leaves a temporary file behind when it is killed.
    """
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    parts = [np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data for name in names]
    # The metadata come first: readers look for them at the beginning of the file.
    entries = dict(sorted(metadata.items())) | {
        BLOCK_CHECKSUMS: encode_checksums(block_checksums(parts))
    }
    header: dict[str, Any] = {METADATA: entries}
    end = 0
    for name in names:
        array = arrays[name]
        start, end = end, end + array.nbytes
        dtype, shape = DTYPE_NAMES[array.dtype], list(array.shape)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}
    entries[HEADER_CHECKSUM] = json_checksum(header)
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(struct.pack("<Q", len(text)) + text)
    for part in parts:
        file.write(part)


def check_tensors(tensors: Tensors, dimensions: int, **dtypes: str) -> None:
    """Raise `InvalidArgumentError` for arrays of another dtype or number of dimensions."""
    for name, dtype in dtypes.items():
        if name not in tensors:
            continue
        if tensors[name].dtype != np.dtype(dtype):
            raise InvalidArgumentError(
                f"'{name}' holds {tensors[name].dtype} instead of {np.dtype(dtype)}"
            )
        if tensors[name].ndim != dimensions:
            raise InvalidArgumentError(f"'{name}' has the shape {tensors[name].shape}")
