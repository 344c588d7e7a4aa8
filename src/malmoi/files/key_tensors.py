"""Keys as tensors of a file, and back; keys of a large file are verified when they are used.

`PREFIX_bytes` u8 and `PREFIX_offsets` i64 [n + 1]; to find a key, `PREFIX_hashes` u64 [n]
ascending and `PREFIX_rows` u32 [n].
"""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from malmoi.arrays import UInt32Array, UInt64Array
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.tensors import Tensor, TensorFile, Tensors, check_tensors, invalid_file_on_error
from malmoi.keys import Keys, hash_word

DTYPES = {"bytes": "u1", "offsets": "<i8", "hashes": "<u8", "rows": "<u4"}
MAX_LAZY_LOOKUPS = 256  # after so many, verifying all keys at once is cheaper


def keys_as_tensors(keys: Keys, prefix: str = "key", *, lookup: bool = True) -> Tensors:
    """The tensors of keys; without `lookup`, keys cannot be found by their hashes."""
    tensors: Tensors = {f"{prefix}_bytes": keys.packed, f"{prefix}_offsets": keys.offsets}
    if lookup:
        tensors[f"{prefix}_hashes"], tensors[f"{prefix}_rows"] = keys.lookup
    return tensors


def keys_from_tensors(tensors: Tensors, prefix: str = "key", *, lookup: bool = True) -> Keys:
    """Keys of a file that is verified already."""
    _check_sizes(tensors, prefix, lookup=lookup)
    packed, offsets = tensors[f"{prefix}_bytes"], tensors[f"{prefix}_offsets"]
    _check_offsets(prefix, offsets, len(packed))
    if not lookup:
        return Keys(packed, offsets)
    hashes, rows = tensors[f"{prefix}_hashes"], tensors[f"{prefix}_rows"]
    _check_rows(prefix, rows, len(offsets) - 1)
    return Keys(packed, offsets, (hashes, rows))


def keys_from_file(file: TensorFile, prefix: str = "key", *, lookup: bool = True) -> "FileKeys":
    """Keys of a file with checksums, which are read and verified when they are used."""
    names = [name for name in DTYPES if lookup or name in ("bytes", "offsets")]
    _check_sizes(file.unverified(), prefix, lookup=lookup)
    return FileKeys({name: file.tensors[f"{prefix}_{name}"] for name in names}, prefix, file.path)


def _check_sizes(tensors: Tensors, prefix: str, *, lookup: bool) -> None:
    check_tensors(tensors, 1, **{f"{prefix}_{name}": dtype for name, dtype in DTYPES.items()})
    sizes = {name: len(tensors[f"{prefix}_{name}"]) for name in (*DTYPES,)[: 4 if lookup else 2]}
    if sizes["offsets"] == 0:
        raise InvalidArgumentError(f"the {prefix}s do not fit their offsets")
    if lookup and not sizes["hashes"] == sizes["rows"] == sizes["offsets"] - 1:
        raise InvalidArgumentError(f"the {prefix}s' index is not as long as the {prefix}s")


def _check_offsets(prefix: str, offsets: Any, size: int) -> None:
    if offsets[0] != 0 or offsets[-1] != size or np.any(offsets[1:] < offsets[:-1]):
        raise InvalidArgumentError(f"the {prefix}s do not fit their offsets")


def _check_rows(prefix: str, rows: Any, count: int) -> None:
    if len(rows) and int(rows.max()) >= count:
        raise InvalidArgumentError(
            f"the {prefix}s' index names row {int(rows.max()):,} of {count:,}"
        )


class FileKeys(Keys):
    """Keys in a file with checksums: a look-up verifies the blocks it reads, all else verifies all.

    `packed` and `offsets` are missing from `__dict__` until they are verified; Python then calls
    `__getattr__`, as with `malmoi.deferred.Deferred`.
    """

    def __init__(self, tensors: dict[str, Tensor], prefix: str, path: Path) -> None:
        self._tensors, self._prefix, self._lookups = tensors, prefix, 0
        self._count = len(tensors["offsets"].array) - 1
        self._path = path

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in ("packed", "offsets"):
                raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
            packed, offsets = (self._tensors[part].all() for part in ("bytes", "offsets"))
            with invalid_file_on_error(self._path):
                _check_offsets(self._prefix, offsets, len(packed))
            self.__dict__ |= {"packed": packed, "offsets": offsets}
            return self.__dict__[name]

    @cached_property
    def lookup(self) -> tuple[UInt64Array, UInt32Array]:
        """The hashes in ascending order and the row of each; equal words by row."""
        if "rows" not in self._tensors:
            return Keys(self.packed, self.offsets).lookup
        hashes, rows = self._tensors["hashes"].all(), self._tensors["rows"].all()
        with invalid_file_on_error(self._path):
            _check_rows(self._prefix, rows, self._count)
        return hashes, rows

    def _become_plain(self) -> None:
        """Verify all keys and turn into plain `Keys`, whose look-ups are faster.

        Other threads may be inside a method meanwhile: nothing that they use is removed.
        """
        _ = self.packed, self.lookup
        self.__class__ = Keys  # type: ignore[assignment]

    def __len__(self) -> int:
        return self._count

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are plain `Keys`."""
        return Keys, (self.packed, self.offsets, self.lookup)

    def bytes_at(self, row: int) -> bytes:
        """The UTF-8 bytes of the word of a row."""
        if "offsets" in self.__dict__:
            return Keys.bytes_at(self, row)
        start, stop = self._tensors["offsets"].rows(slice(row, row + 2)).tolist()
        packed = self._tensors["bytes"]
        if not 0 <= start <= stop <= len(packed.array):
            raise InvalidFileError(
                f"{self._path} is damaged: the {self._prefix}s do not fit their offsets"
            )
        return bytes(packed.rows(slice(start, stop)).data)

    def strings(self, rows: Iterable[int]) -> list[str]:
        """The words of rows; negative indices are not allowed."""
        rows = list(rows)
        if "offsets" in self.__dict__ or len(rows) > MAX_LAZY_LOOKUPS:
            return Keys.strings(self, rows)
        return [self.bytes_at(row).decode("utf-8", "surrogateescape") for row in rows]

    def _find(self, word: bytes, position: int | None = None) -> int:
        self._lookups += 1
        if position is not None or self._lookups > MAX_LAZY_LOOKUPS or "rows" not in self._tensors:
            self._become_plain()
            return self._find(word, position)
        value, hashes = hash_word(word), self._tensors["hashes"]
        low, high = 0, self._count
        while low < high:  # bisection over hashes that are verified on the way
            middle = (low + high) // 2
            low, high = (middle + 1, high) if hashes.rows(middle) < value else (low, middle)
        while low < self._count and hashes.rows(low) == value:
            row = int(self._tensors["rows"].rows(low))
            if row < self._count and self.bytes_at(row) == word:
                return row
            low += 1
        return -1
