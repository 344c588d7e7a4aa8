"""A cursor that reads numbers and arrays from a mapped file, never past its end."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from malmoi.arrays import UInt8Array
from malmoi.errors import InvalidFileError


class Cursor:
    """A position in the bytes of a file that advances with each read."""

    def __init__(self, data: UInt8Array, path: Path) -> None:
        self.data, self.path, self.position = data, path, 0

    @property
    def remaining(self) -> int:
        """How many bytes follow."""
        return len(self.data) - self.position

    def unpack(self, layout: str, what: str) -> tuple[Any, ...]:
        """Read numbers in a layout of `struct`; `what` names them in an error."""
        size = struct.calcsize(layout)
        self._expect(size, what)
        numbers = struct.unpack(layout, bytes(self.data[self.position : self.position + size]))
        self.position += size
        return numbers

    def array(self, dtype: str, count: int, what: str) -> npt.NDArray[Any]:
        """Read an array as a view of the file."""
        size = np.dtype(dtype).itemsize * count
        self._expect(size, what)
        array = np.empty(0, dtype)
        if count:
            array = np.frombuffer(self.data, dtype, count, self.position)
        self.position += size
        return array

    def _expect(self, size: int, what: str) -> None:
        if not 0 <= size <= self.remaining:
            raise InvalidFileError(
                f"{self.path} is truncated or damaged: its {what} needs {size:,} bytes"
                f" from byte {self.position:,} on, and {self.remaining:,} are left"
            )
