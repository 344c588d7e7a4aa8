"""Reads HDF5 files: arrays by their paths, such as CNN/W_cnn_0, as views of the mapped file.

    superblock → object header of the root group → its members, groups or arrays

Members of a group are in a B-tree whose leaves are symbol table nodes, with their names in a
local heap; or, in newer files, in messages of the group's header. Arrays must be uncompressed and
in one block, as in published ELMo weights. A hostile file can do no more than raise: nothing is
executed, every address is checked, and no part of the file is followed twice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.hdf5.objects import (
    LAYOUT,
    LINK,
    LINK_INFO,
    SYMBOL_TABLE,
    UNDEFINED,
    FileBytes,
    Message,
    read_array,
    read_messages,
)
from malmoi.files.source import InputFile
from malmoi.files.tensors import invalid_file_on_error

SIGNATURE = b"\x89HDF\r\n\x1a\n"
OLD_SUPERBLOCKS = {0: 24, 1: 28}  # by version, where the addresses begin
NEW_SUPERBLOCKS = (2, 3)
WIDTH = 8  # bytes of an address or a length; the format allows others
HARD_LINK = 0
ENTRY_BYTES = 40  # of a member in a symbol table node
MAX_DEPTH = 32  # of groups in groups, and of B-trees


@dataclass(frozen=True, eq=False)
class Hdf5File(Mapping[str, npt.NDArray[Any]]):
    """The arrays of a file by path; each is checked when it is used."""

    source: InputFile
    data: FileBytes
    arrays: dict[str, list[Message]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        messages = self.arrays[name]
        with invalid_file_on_error(self.source.path):
            return read_array(self.data, name, messages)

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def __contains__(self, name: object) -> bool:
        return name in self.arrays


def open_hdf5(source: InputFile) -> Hdf5File:
    """Open a file and find its arrays.

    Raises:
        InvalidFileError: It is not an HDF5 file, is damaged, or uses parts of the format that are
            not supported.
    """
    if source.compressed:
        raise InvalidFileError(f"{source.path} is compressed: decompress it first")
    data = FileBytes(source.mapped)
    if source.head[: len(SIGNATURE)] != SIGNATURE:
        raise InvalidFileError(f"{source.path} is not an HDF5 file")
    file = Hdf5File(source, data)
    with invalid_file_on_error(source.path):
        _Members(data, file.arrays).add(_root(data), "", 0)
    return file


def _root(data: FileBytes) -> int:
    """The address of the root group's header, from the superblock."""
    (version,) = data.unpack("B", 8)
    if version in NEW_SUPERBLOCKS:
        widths, (base, _, end, root) = data.unpack("BB", 9), data.unpack("4Q", 12)
    elif version in OLD_SUPERBLOCKS:
        start = OLD_SUPERBLOCKS[version]
        widths, (base, _, end) = data.unpack("BB", 13), data.unpack("3Q", start)
        (root,) = data.unpack("Q", start + 40)
    else:
        raise InvalidArgumentError(f"its superblock has the unknown version {version}")
    if widths != (WIDTH, WIDTH) or base:
        raise InvalidArgumentError(
            f"its addresses have {widths[0]} bytes from {base} on: only 8 bytes from 0 on are"
            " supported"
        )
    if end > len(data.mapped):
        raise InvalidArgumentError(
            f"it is truncated: it should have {end:,} bytes, but has {len(data.mapped):,}"
        )
    return int(root)


@dataclass(frozen=True, eq=False)
class _Members:
    """Collects the arrays of groups; `seen` are the addresses that were followed already."""

    data: FileBytes
    arrays: dict[str, list[Message]]
    seen: set[int] = field(default_factory=set)

    def add(self, address: int, path: str, depth: int) -> None:
        """Add the array with its header at an address, or all arrays of a group."""
        self._follow(address, depth)
        messages = read_messages(self.data, address)
        kinds = {message.kind for message in messages}
        if LAYOUT in kinds:
            self.arrays[path] = messages
            return
        for message in messages:
            if message.kind == SYMBOL_TABLE:
                tree, heap = (int.from_bytes(message.body[i : i + 8], "little") for i in (0, 8))
                for name, child in self._tree_members(tree, self._heap(heap), 0):
                    self.add(child, f"{path}/{name}".lstrip("/"), depth + 1)
            elif message.kind == LINK:
                name, child = _link(message.body)
                self.add(child, f"{path}/{name}".lstrip("/"), depth + 1)
            elif message.kind == LINK_INFO and _is_dense(message.body):
                raise InvalidArgumentError(f"the group '{path}' has too many members to be read")

    def _follow(self, address: int, depth: int) -> None:
        if address in self.seen:
            raise InvalidArgumentError(f"the part at {address:,} is used twice")
        if depth > MAX_DEPTH:
            raise InvalidArgumentError(f"its groups are more than {MAX_DEPTH} deep")
        self.seen.add(address)

    def _heap(self, address: int) -> bytes:
        """The names of a group's members."""
        if self.data.read(address, 4) != b"HEAP":
            raise InvalidArgumentError(f"there is no local heap at {address:,}")
        size, _, start = self.data.unpack("QQQ", address + 8)
        return self.data.read(start, size)

    def _tree_members(self, address: int, names: bytes, depth: int) -> Iterator[tuple[str, int]]:
        """The name and address of each member in a B-tree."""
        self._follow(address, depth)
        signature = self.data.read(address, 4)
        if signature == b"SNOD":
            (count,) = self.data.unpack("H", address + 6)
            for i in range(count):
                name, child = self.data.unpack("QQ", address + 8 + i * ENTRY_BYTES)
                yield _name(names, name), child
            return
        kind, _, count = self.data.unpack("BBH", address + 4)
        if signature != b"TREE" or kind != 0:
            raise InvalidArgumentError(f"there is no B-tree of a group at {address:,}")
        for i in range(count):  # after each key, which is not needed, an address
            (child,) = self.data.unpack("Q", address + 24 + WIDTH * (2 * i + 1))
            yield from self._tree_members(child, names, depth + 1)


def _name(names: bytes, start: int) -> str:
    stop = names.find(b"\0", start)
    if start >= len(names) or stop < 0:
        raise InvalidArgumentError(
            f"a name at {start:,} is beyond its heap of {len(names):,} bytes"
        )
    return names[start:stop].decode()


def _link(body: bytes) -> tuple[str, int]:
    """The name and the address of a member, from a link message."""
    version, flags, at = body[0], body[1], 2
    kind = body[at] if flags & 8 else HARD_LINK
    at += bool(flags & 8) + 8 * bool(flags & 4) + bool(flags & 16)
    width = 1 << (flags & 3)
    length = int.from_bytes(body[at : at + width], "little")
    name = body[at + width : at + width + length].decode()
    if version != 1 or kind != HARD_LINK or len(body) < at + width + length + WIDTH:
        raise InvalidArgumentError(f"'{name}' is a link to another name or file")
    start = at + width + length
    return name, int.from_bytes(body[start : start + WIDTH], "little")


def _is_dense(body: bytes) -> bool:
    """Whether members are in a fractal heap, which only groups of many members have."""
    start = 2 + 8 * bool(body[1] & 1)
    return int.from_bytes(body[start : start + WIDTH], "little") != UNDEFINED
