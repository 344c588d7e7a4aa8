"""Writes float32 arrays as an HDF5 file, in groups, by the layout of the oldest version.

The file has a superblock of version 0; each group is a symbol table (one B-tree node, one node of
entries, a heap of names), each array an object header of version 1 and contiguous numbers. Every
HDF5 library reads that. Objects are written before the groups that name them, so that their
addresses are known. No compression, attributes or other types.
"""

from collections.abc import Mapping
from pathlib import Path
from struct import pack
from typing import BinaryIO

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.files.hdf5.objects import (
    CONTIGUOUS,
    DATASPACE,
    DATATYPE,
    FLOATS,
    IEEE_FLOATS,
    LAYOUT,
    SYMBOL_TABLE,
    UNDEFINED,
)
from malmoi.files.hdf5.reader import ENTRY_BYTES, SIGNATURE
from malmoi.files.output import open_output

SUPERBLOCK_BYTES = 96
INTERNAL_K = 16  # half of the children of a B-tree node
MIN_LEAF_K = 4  # half of the entries of a symbol table node
FILL_VALUE = 5  # a message of a header; the reader skips it
# Version and class, bits (the sign is the last), size, and the parts of IEEE 754.
FLOAT32 = pack("<4BIHH4BI", 0x10 + FLOATS, 0x20, 31, 0, 4, *IEEE_FLOATS[4])
NO_FILL_VALUE = pack("<4BI", 2, 2, 2, 1, 0)

Group = dict[str, "Group | Float32Array"]


def write_hdf5(path: Path, arrays: Mapping[str, Float32Array]) -> None:
    """Write arrays under their names, atomically; `/` in a name separates groups.

    Raises:
        InvalidFileError: The file cannot be written.
    """
    root = as_groups(arrays)
    leaf_k = max(MIN_LEAF_K, -(-_most_entries(root) // 2))
    with open_output(path) as (file,):
        file.write(bytes(SUPERBLOCK_BYTES))
        address = _write_group(file, root, leaf_k)
        end = file.seek(0, 2)
        file.seek(0)
        file.write(_superblock(address, end, leaf_k))


def as_groups(arrays: Mapping[str, Float32Array]) -> Group:
    """The arrays as nested groups."""
    root: Group = {}
    for name, array in arrays.items():
        *folders, last = name.split("/")
        group = root
        for folder in folders:
            child = group.setdefault(folder, {})
            if not isinstance(child, dict):
                raise ValueError(f"{folder} of {name} is an array already")
            group = child
        group[last] = array
    return root


def _most_entries(group: Group) -> int:
    children = [_most_entries(child) for child in group.values() if isinstance(child, dict)]
    return max(len(group), *children) if children else len(group)


def _superblock(root: int, end: int, leaf_k: int) -> bytes:
    versions_and_sizes = pack("<8B", 0, 0, 0, 0, 0, 8, 8, 0)
    tree = pack("<HHI", leaf_k, INTERNAL_K, 0)
    addresses = pack("<4Q", 0, UNDEFINED, end, UNDEFINED)
    return SIGNATURE + versions_and_sizes + tree + addresses + _entry(0, root)


def _entry(name: int, address: int) -> bytes:
    """An entry of a symbol table: the offset of a name in the heap, the address of an object."""
    return pack("<QQII16x", name, address, 0, 0)


def _write_group(file: BinaryIO, group: Group, leaf_k: int) -> int:
    """Write a group after all that is in it; returns its address."""
    names = sorted(group, key=str.encode)  # a reader searches by bytes
    addresses = []
    for name in names:
        child = group[name]
        if isinstance(child, dict):
            addresses.append(_write_group(file, child, leaf_k))
        else:
            addresses.append(_write_array(file, child))
    heap, offsets = bytearray(8), []  # the empty name, for the first key of the tree
    for name in names:
        offsets.append(len(heap))
        heap += _padded(name.encode() + b"\0")
    names_at = _append(file, bytes(heap))
    heap_at = _append(file, b"HEAP" + pack("<4xQQQ", len(heap), 1, names_at))  # 1: none is free
    entries = b"".join(map(_entry, offsets, addresses))
    node = b"SNOD" + pack("<BxH", 1, len(names)) + entries.ljust(2 * leaf_k * ENTRY_BYTES, b"\0")
    keys = pack("<QQQ", 0, _append(file, node), offsets[-1] if offsets else 0)
    siblings = pack("<BBHQQ", 0, 0, 1, UNDEFINED, UNDEFINED)
    tree_at = _append(file, b"TREE" + siblings + keys.ljust((4 * INTERNAL_K + 1) * 8, b"\0"))
    return _append(file, _object_header({SYMBOL_TABLE: pack("<QQ", tree_at, heap_at)}))


def _write_array(file: BinaryIO, array: Float32Array) -> int:
    """Write an array and its header; returns the address of the header."""
    numbers = np.asarray(array, "<f4")
    data_at = _append(file, numbers.tobytes())
    space = pack(f"<BB6x{numbers.ndim}Q", 1, numbers.ndim, *numbers.shape)
    layout = pack("<BBQQ", 3, CONTIGUOUS, data_at if numbers.size else UNDEFINED, numbers.nbytes)
    messages = {DATASPACE: space, DATATYPE: FLOAT32, FILL_VALUE: NO_FILL_VALUE, LAYOUT: layout}
    return _append(file, _object_header(messages))


def _object_header(messages: dict[int, bytes]) -> bytes:
    body = b"".join(
        pack("<HHB3x", kind, len(data := _padded(message)), 0) + data
        for kind, message in messages.items()
    )
    return pack("<BxHII4x", 1, len(messages), 1, len(body)) + body


def _append(file: BinaryIO, data: bytes) -> int:
    """Write at the end, where all addresses are multiples of 8; returns the address."""
    address = file.tell()
    file.write(_padded(data))
    return address


def _padded(data: bytes) -> bytes:
    return data.ljust(-(-len(data) // 8) * 8, b"\0")
