"""Arrays in one safetensors file, opened memory-mapped, written whole.

    u64 length of the header, the header (JSON), then the arrays' bytes

Knows nothing of what the arrays mean.
"""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from malmoi.errors import BadFile, BadSetting
from malmoi.files.output import beside
from malmoi.files.source import Source
from malmoi.keys import Keys

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
WRONG = (AttributeError, KeyError, OverflowError, TypeError, ValueError, RecursionError,
         struct.error)  # fmt: skip
Tensors = dict[str, npt.NDArray[Any]]


def open_tensors(source: Source) -> tuple[Tensors, dict[str, str]]:
    """Every array as a view of the mapped file, and what the header says beside.

    What is BF16 becomes a float32 of its own.
    """
    try:
        return _open(source)
    except WRONG as error:
        raise damaged(source.path, error) from error


def damaged(path: Path, error: Exception) -> BadFile:
    """What to say of a file whose header cannot be true."""
    reason = str(error) if isinstance(error, BadSetting) else f"its header is wrong ({error})"
    return BadFile(f"{path} is damaged: {reason}")


def _open(source: Source) -> tuple[Tensors, dict[str, str]]:
    (length,) = struct.unpack_from("<Q", source.head)
    if length > source.size - 8:
        raise BadSetting(f"the header should take {length:,} bytes of a file of {source.size:,}")
    header = json.loads(bytes(source.mapped[8 : 8 + length]))
    said = header.pop("__metadata__", {})
    body = source.mapped[8 + length :]
    tensors: Tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        shape, dtype = entry["shape"], _dtype(entry["dtype"])
        if min(shape, default=0) < 0:
            raise BadSetting(f"'{name}' has the shape {shape}")
        size = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if not 0 <= first <= last <= len(body) or last - first != size:
            raise BadSetting(
                f"'{name}' should end at byte {8 + length + last:,} of {source.size:,}"
            )
        array = np.frombuffer(body, dtype, size // dtype.itemsize, first).reshape(shape)
        tensors[name] = _widened(array) if entry["dtype"] == HALVED else array
    return tensors, said


def _dtype(name: str) -> np.dtype[Any]:
    if name not in DTYPES and name != HALVED:
        raise BadSetting(f"it holds numbers of the kind '{name}', which are not known here")
    return np.dtype(DTYPES.get(name, "<u2"))


def _widened(halves: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """The float32 whose upper 16 bits these are; the lower ones are 0."""
    return (halves.astype("<u4") << 16).view("<f4")


def write_tensors(
    path: Path, tensors: Mapping[str, npt.NDArray[Any] | None], said: dict[str, str]
) -> None:
    """The arrays that are there. The same arrays make the same file, byte for byte."""
    arrays = {name: array for name, array in tensors.items() if array is not None}
    with beside(path) as (part,), part.open("wb") as file:
        write_arrays(file, arrays, said)


def write_arrays(file: BinaryIO, arrays: Tensors, said: dict[str, str]) -> None:
    """Header and bytes; large numbers come first, so that all lie at even addresses.

    Not by the package safetensors, which leaves a file of its own behind when it is killed.
    """
    names = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    header: dict[str, Any] = {"__metadata__": dict(sorted(said.items()))}
    end = 0
    for name in names:
        array = arrays[name]
        start, end = end, end + array.nbytes
        kind, shape = NAMES[array.dtype], list(array.shape)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(struct.pack("<Q", len(text)) + text)
    for name in names:
        file.write(np.ascontiguousarray(arrays[name]).reshape(-1).data)


def keys_as_tensors(keys: Keys, prefix: str = "key", *, lookup: bool = True) -> Tensors:
    """Keys, with what it takes to find one unless nobody will look one up."""
    tensors: Tensors = {f"{prefix}_bytes": keys.packed, f"{prefix}_offsets": keys.offsets}
    if lookup:
        tensors[f"{prefix}_hashes"], tensors[f"{prefix}_rows"] = keys.lookup
    return tensors


def keys_from_tensors(tensors: Tensors, prefix: str = "key", *, lookup: bool = True) -> Keys:
    """Keys that lie in a file."""
    kinds = {"bytes": "u1", "offsets": "<i8", "hashes": "<u8", "rows": "<u4"}
    expect(tensors, 1, **{f"{prefix}_{name}": kind for name, kind in kinds.items()})
    packed, offsets = tensors[f"{prefix}_bytes"], tensors[f"{prefix}_offsets"]
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(packed):
        raise BadSetting(f"the {prefix}s do not fit their offsets")
    if np.any(offsets[1:] < offsets[:-1]):
        raise BadSetting(f"the {prefix}s' offsets go astray")
    if not lookup:
        return Keys(packed, offsets)
    hashes, rows = tensors[f"{prefix}_hashes"], tensors[f"{prefix}_rows"]
    if not len(hashes) == len(rows) == len(offsets) - 1:
        raise BadSetting(f"the {prefix}s' index is not as long as the {prefix}s")
    return Keys(packed, offsets, (hashes, rows))


def expect(tensors: Tensors, dimensions: int, **dtypes: str) -> None:
    """Refuse arrays of other numbers or shapes than a file of this kind has."""
    for name, dtype in dtypes.items():
        if name not in tensors:
            continue
        if tensors[name].dtype != np.dtype(dtype):
            raise BadSetting(f"'{name}' holds {tensors[name].dtype} instead of {np.dtype(dtype)}")
        if tensors[name].ndim != dimensions:
            raise BadSetting(f"'{name}' has the shape {tensors[name].shape}")
