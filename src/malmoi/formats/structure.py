"""Reading numbers and arrays one after the other out of a mapped file, never past its end."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import UInt8Array
from malmoi.errors import InvalidFileError


class Cursor:
    """A position in a file's bytes that moves on with what is read."""

    def __init__(self, data: UInt8Array, path: Path) -> None:
        self.data, self.path, self.at = data, path, 0

    @property
    def left(self) -> int:
        """How many bytes follow."""
        return len(self.data) - self.at

    def unpack(self, layout: str, what: str) -> tuple[Any, ...]:
        """Numbers as `struct` lays them out."""
        size = struct.calcsize(layout)
        self._expect(size, what)
        numbers = struct.unpack(layout, bytes(self.data[self.at : self.at + size]))
        self.at += size
        return numbers

    def array(self, dtype: str, count: int, what: str) -> npt.NDArray[Any]:
        """An array as a view of the file."""
        size = np.dtype(dtype).itemsize * count
        self._expect(size, what)
        found = np.frombuffer(self.data, dtype, count, self.at) if count else np.empty(0, dtype)
        self.at += size
        return found

    def _expect(self, size: int, what: str) -> None:
        if not 0 <= size <= self.left:
            raise InvalidFileError(
                f"{self.path} is cut short or damaged: its {what} needs {size:,} bytes"
                f" from byte {self.at:,} on, and {self.left:,} are left"
            )
