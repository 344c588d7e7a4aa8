"""Arrays in one safetensors file, opened memory-mapped, written whole.

    u64 length of the header, the header (JSON), then the arrays' bytes

Knows nothing of what the arrays mean.
"""

import json
import os
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.errors import BadFile, BadSetting
from malmoi.files.output import beside
from malmoi.files.source import Source
from malmoi.keys import Keys

DTYPES = {
    "F32": "<f4",
    "F64": "<f8",
    "U8": "u1",
    "I32": "<i4",
    "U32": "<u4",
    "I64": "<i8",
    "U64": "<u8",
}
WRONG = (AttributeError, KeyError, OverflowError, TypeError, ValueError, RecursionError,
         struct.error)  # fmt: skip
Tensors = dict[str, npt.NDArray[Any]]


def open_tensors(source: Source) -> tuple[Tensors, dict[str, str]]:
    """Every array as a view of the mapped file, and what the header says beside."""
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
    said = header.pop("__metadata__")
    body = source.mapped[8 + length :]
    tensors: Tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        shape, dtype = entry["shape"], np.dtype(DTYPES[entry["dtype"]])
        if min(shape, default=0) < 0:
            raise BadSetting(f"'{name}' has the shape {shape}")
        size = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if not 0 <= first <= last <= len(body) or last - first != size:
            raise BadSetting(
                f"'{name}' should end at byte {8 + length + last:,} of {source.size:,}"
            )
        tensors[name] = np.frombuffer(body, dtype, size // dtype.itemsize, first).reshape(shape)
    return tensors, said


def write_tensors(
    path: Path, tensors: Mapping[str, npt.NDArray[Any] | None], said: dict[str, str]
) -> None:
    """The arrays that are there; copied only where a mapped file has them at odd addresses."""
    from safetensors import SafetensorError, TensorSpec, serialize_file

    arrays = {
        name: np.require(array, requirements=["C", "A"])
        for name, array in tensors.items()
        if array is not None
    }
    specs = {
        name: TensorSpec(
            dtype=str(array.dtype),
            shape=list(array.shape),
            data_ptr=array.ctypes.data,
            data_len=array.nbytes,
        )
        for name, array in arrays.items()
    }
    with beside(path) as (part,):
        part.touch()  # tells what is wrong with the place better than safetensors does
        try:
            serialize_file(specs, part, said)
        except SafetensorError as error:
            told = re.search(r"os error (\d+)", str(error))
            if told:  # the system's own complaint, which `beside` puts into words
                raise OSError(int(told[1]), os.strerror(int(told[1]))) from error
            raise BadFile(f"{path} was not written: {error}") from error


def keys_as_tensors(keys: Keys) -> Tensors:
    """Keys with what it takes to find one."""
    hashes, rows = keys.lookup
    return {
        "key_bytes": keys.packed,
        "key_offsets": keys.offsets,
        "key_hashes": hashes,
        "key_rows": rows,
    }


def keys_from_tensors(tensors: Tensors) -> Keys:
    """Keys that lie in a file."""
    expect(tensors, 1, key_bytes="u1", key_offsets="<i8", key_hashes="<u8", key_rows="<u4")
    packed, offsets = tensors["key_bytes"], tensors["key_offsets"]
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(packed):
        raise BadSetting("the keys do not fit their offsets")
    if np.any(offsets[1:] < offsets[:-1]):
        raise BadSetting("the keys' offsets go astray")
    hashes, rows = tensors["key_hashes"], tensors["key_rows"]
    if not len(hashes) == len(rows) == len(offsets) - 1:
        raise BadSetting("the keys' index is not as long as the keys")
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
