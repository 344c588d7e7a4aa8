"""Arrays in one safetensors file, opened memory-mapped, written whole.

    u64 length of the header, the header (JSON), then the arrays' bytes

What we write has checksums in the header's `__metadata__`: `crc32_blocks`, of every block of the
arrays' bytes, and `crc32`, of the header itself. A file without any, as others write them, is read
all the same. Knows nothing of what the arrays mean.
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
    block_sums,
    json_sum,
    sums_as_text,
    sums_from_text,
    touched,
)
from malmoi.files.output import beside
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
HALVED = "BF16"  # the upper half of a float32, which NumPy has no name for
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
LARGE = 4 << 20  # bytes, which take 2 ms to verify
METADATA, HEADER_SUM, BLOCK_SUMS = "__metadata__", "crc32", "crc32_blocks"
WRONG = (AttributeError, KeyError, IndexError, OverflowError, TypeError, ValueError, MemoryError,
         RecursionError, struct.error)  # fmt: skip
Tensors = dict[str, npt.NDArray[Any]]
Check = Callable[[npt.NDArray[Any]], None]


def unchecked(array: npt.NDArray[Any]) -> None:
    """Any numbers will do."""


@dataclass(frozen=True)
class Tensor:
    """An array in a file, verified when it is used."""

    array: npt.NDArray[Any]
    blocks: Blocks | None  # None: the file has no checksums
    start: int  # of its bytes, after the header
    check: Check = unchecked  # raises where the numbers make no sense

    def all(self) -> npt.NDArray[Any]:
        """All of it, verified."""
        if self.blocks is not None:
            self.blocks.verify(self.start, self.start + self.array.nbytes)
            with damage(self.blocks.path):
                self.check(self.array)
        return self.array

    def rows(self, rows: Any) -> npt.NDArray[Any]:
        """These rows; no other bytes are verified than those of the blocks they lie in."""
        if self.blocks is not None and len(self.array):
            width = self.array.nbytes // len(self.array)
            for first, last in touched(rows, len(self.array), width):
                self.blocks.verify(self.start + first, self.start + last)
        found: npt.NDArray[Any] = self.array[rows]
        return found


@dataclass(frozen=True)
class TensorFile:
    """What a file holds: tensors by name, and strings by name."""

    path: Path
    tensors: dict[str, Tensor]
    metadata: dict[str, str]
    blocks: Blocks | None
    checksum: str = ""  # of the header, and so of the checksums of all arrays

    @property
    def is_large(self) -> bool:
        """Whether to verify its arrays where they are used, rather than all when it is opened."""
        return self.blocks is not None and self.blocks.size > LARGE

    def arrays(self) -> Tensors:
        """Every array, verified."""
        if self.blocks is not None:
            self.blocks.verify_all()
        return self.unverified()

    def unverified(self) -> Tensors:
        """Every array as it lies there."""
        return {name: tensor.array for name, tensor in self.tensors.items()}


def open_tensors(source: InputFile) -> tuple[Tensors, dict[str, str]]:
    """Every array as a view of the mapped file, verified, and the metadata.

    What is BF16 becomes a float32 of its own.
    """
    file = open_tensor_file(source)
    return file.arrays(), file.metadata


def open_tensor_file(source: InputFile) -> TensorFile:
    """A file whose header is verified, and its arrays when they are used."""
    with damage(source.path):
        return _open(source)


@contextmanager
def damage(path: Path) -> Iterator[None]:
    """Whatever goes wrong in making sense of a file, said of the file."""
    try:
        yield
    except WRONG as error:
        raise damaged(path, error) from error


def damaged(path: Path, error: Exception) -> InvalidFileError:
    """What to say of a file that cannot be true."""
    reason = str(error)
    if not isinstance(error, InvalidArgumentError):
        reason = f"its header is wrong ({type(error).__name__}: {error})"
    return InvalidFileError(f"{path} is damaged: {reason}")


def _open(source: InputFile) -> TensorFile:
    if source.compressed:
        raise InvalidArgumentError("it is compressed, and is opened in place: decompress it")
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
    checksum = metadata.get(HEADER_SUM, "")
    blocks = _blocks(header, body, source.path)
    del header[METADATA]
    tensors = {name: _tensor(name, entry, body, blocks) for name, entry in header.items()}
    return TensorFile(source.path, tensors, metadata, blocks, checksum)


def _blocks(header: dict[str, Any], body: UInt8Array, path: Path) -> Blocks | None:
    """The checksums in a header, which is verified by its own; they are taken out of it."""
    metadata = header.setdefault(METADATA, {})
    if HEADER_SUM not in metadata and BLOCK_SUMS not in metadata:
        return None
    expected = metadata.pop(HEADER_SUM, "")
    if json_sum(header) != expected:
        raise InvalidArgumentError("the checksum of its header is wrong")
    return Blocks(body, sums_from_text(metadata.pop(BLOCK_SUMS)), path)


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
    if entry["dtype"] == HALVED:
        if blocks is not None:
            blocks.verify(first, last)
        return Tensor(_widened(array), None, 0)
    return Tensor(array, blocks, first)


def _dtype(name: str) -> np.dtype[Any]:
    if name not in DTYPES and name != HALVED:
        raise InvalidArgumentError(
            f"it holds numbers of the kind '{name}', which are not known here"
        )
    return np.dtype(DTYPES.get(name, "<u2"))


def _widened(halves: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """The float32 whose upper 16 bits these are; the lower ones are 0."""
    return (halves.astype("<u4") << 16).view("<f4")


def write_tensors(
    path: Path, tensors: Mapping[str, npt.NDArray[Any] | None], metadata: Mapping[str, str]
) -> None:
    """The arrays that are there. The same arrays make the same file, byte for byte."""
    arrays = {name: array for name, array in tensors.items() if array is not None}
    with beside(path) as (part,), part.open("wb") as file:
        write_arrays(file, arrays, metadata)


def write_arrays(file: BinaryIO, arrays: Tensors, metadata: Mapping[str, str]) -> None:
    """Header and bytes; large numbers come first, so that all lie at even addresses.

    Not by the package safetensors, which leaves a file of its own behind when it is killed.
    """
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    parts = [np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data for name in names]
    # What the file is stands first in it: readers look for that in its beginning.
    known = dict(sorted(metadata.items())) | {BLOCK_SUMS: sums_as_text(block_sums(parts))}
    header: dict[str, Any] = {METADATA: known}
    end = 0
    for name in names:
        array = arrays[name]
        start, end = end, end + array.nbytes
        kind, shape = NAMES[array.dtype], list(array.shape)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, end]}
    known[HEADER_SUM] = json_sum(header)
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(struct.pack("<Q", len(text)) + text)
    for part in parts:
        file.write(part)


def expect(tensors: Tensors, dimensions: int, **dtypes: str) -> None:
    """Refuse arrays of other numbers or shapes than a file of this kind has."""
    for name, dtype in dtypes.items():
        if name not in tensors:
            continue
        if tensors[name].dtype != np.dtype(dtype):
            raise InvalidArgumentError(
                f"'{name}' holds {tensors[name].dtype} instead of {np.dtype(dtype)}"
            )
        if tensors[name].ndim != dimensions:
            raise InvalidArgumentError(f"'{name}' has the shape {tensors[name].shape}")
