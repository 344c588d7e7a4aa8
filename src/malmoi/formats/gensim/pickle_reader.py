"""Reads a pickle without running it: names become `GlobalName`, objects `StoredObject`.

A pickle is a program for a stack machine. Python's own machine imports and calls what the file
names; this one knows the instructions that gensim's files consist of, allows the names below, and
calls nothing. It takes time and memory in proportion to the file: lengths are checked against what
is left of it, and only words and numbers are keys, whose hashes cannot be made slow.

Opcodes by their names in the standard library's `pickletools`; those that are missing are refused.
"""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from malmoi.arrays import UInt8Array
from malmoi.errors import InvalidFileError
from malmoi.formats.gensim.stored_object import GlobalName, StoredObject

NUMPY_NAMES = {
    "numpy": {"dtype", "ndarray", "float16", "float32", "float64", "int32", "int64", "uint32"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy.core.numeric": {"_frombuffer"},
    "numpy._core.numeric": {"_frombuffer"},
    "numpy.random": {"__RandomState_ctor"},
    "numpy.random.mtrand": {"__RandomState_ctor"},
    "numpy.random._pickle": {
        "__RandomState_ctor", "__randomstate_ctor", "__bit_generator_ctor", "__generator_ctor",
    },
    "numpy.random._mt19937": {"MT19937"},
    "numpy.random._pcg64": {"PCG64"},
    "numpy.random.bit_generator": {"SeedSequence", "__pyx_unpickle_SeedSequence"},
}  # fmt: skip
PYTHON_NAMES = {
    "builtins": {"hash", "int", "object", "bytearray", "set", "frozenset"},
    "__builtin__": {"hash", "int", "long", "object", "bytearray", "set", "frozenset"},
    "collections": {"defaultdict", "OrderedDict", "Counter"},
    "UserString": {"defaultdict"},  # in some files of Python 2
    "_codecs": {"encode"},
    "copyreg": {"_reconstructor"},
    "copy_reg": {"_reconstructor"},
}
NAMES = NUMPY_NAMES | PYTHON_NAMES
DICTIONARIES = {"defaultdict", "OrderedDict", "Counter"}
NEVER_CALLED = {"hash", "int", "long", "object", "ndarray"}

MAX_STACK = 1 << 20  # values that wait for their container: gensim's files have thousands
MAX_LINE = 1 << 12  # bytes of a name or number in text
MAX_INTEGER_BYTES = 64
SHORT_BYTES = 1 << 16  # longer ones are not copied

ERRORS = (IndexError, KeyError, ValueError, TypeError, OverflowError, struct.error,
          MemoryError, RecursionError)  # fmt: skip


def read_pickle(data: UInt8Array, path: Path) -> object:
    """The value of a pickle, as plain containers, numbers, strings and `StoredObject`.

    Raises `InvalidFileError` for a damaged pickle, and for one that names anything but gensim's
    classes and NumPy's arrays.
    """
    reader = PickleReader(data)
    try:
        return reader.run()
    except InvalidFileError as error:
        raise InvalidFileError(f"{path} is a Python pickle, and {error}") from None
    except ERRORS:
        raise InvalidFileError(
            f"{path} is a Python pickle that is damaged at byte {reader.position:,}"
        ) from None


class PickleReader:
    """The stack machine: `stack` since the last mark, `marked` stacks below it, and the memo."""

    def __init__(self, data: UInt8Array) -> None:
        self.data, self.position = data.data, 0
        self.stack: list[Any] = []
        self.marked: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.values = 0  # in stacks below the last mark

    def run(self) -> object:
        """Execute instructions until STOP."""
        data = self.data
        while True:
            code = data[self.position]
            self.position += 1
            if code == STOP:
                if self.marked or len(self.stack) != 1:
                    raise ValueError("values are left")
                return self.stack[0]
            instruction = INSTRUCTIONS.get(code)
            if instruction is None:
                raise InvalidFileError(
                    f"has the instruction {bytes([code])!r}, which gensim's lack"
                )
            instruction(self)

    def take(self, size: int) -> memoryview:
        """The next bytes; `ValueError` if there are fewer."""
        end = self.position + size
        if size < 0 or end > len(self.data):
            raise ValueError("truncated")
        chunk, self.position = self.data[self.position : end], end
        return chunk

    def number(self, layout: str) -> Any:
        """The next number."""
        return struct.unpack(layout, self.take(struct.calcsize(layout)))[0]

    def line(self) -> str:
        """The text up to the end of a line."""
        text = bytes(self.data[self.position : self.position + MAX_LINE])
        end = text.index(b"\n")
        self.position += end + 1
        return text[:end].decode("ascii")

    def push(self, value: Any) -> None:
        """Put a value on the stack."""
        if len(self.stack) > MAX_STACK:
            raise ValueError("too many values")
        self.stack.append(value)

    def mark(self) -> None:
        """Begin the values of a container."""
        self.values += len(self.stack) + 1
        if self.values > MAX_STACK:
            raise ValueError("too many values")
        self.marked.append(self.stack)
        self.stack = []

    def pop_mark(self) -> list[Any]:
        """The values since the last mark."""
        values, self.stack = self.stack, self.marked.pop()
        self.values -= len(self.stack) + 1
        return values

    def push_name(self, module: object, name: object) -> None:
        """Push a name; refused unless it is one of gensim's classes, or in NAMES."""
        if not isinstance(module, str) or not isinstance(name, str):
            raise ValueError("not a name")
        is_gensim = module.startswith("gensim.") and name.isidentifier()
        if not is_gensim and name not in NAMES.get(module, ()):
            raise InvalidFileError(
                f"names {module[:80]}.{name[:80]}, which no file of gensim needs: malmoi reads"
                " gensim's models and runs no code from a file"
            )
        self.push(GlobalName(module, name))

    def build_object(self) -> None:
        """REDUCE and NEWOBJ: record a call instead of making it."""
        args, kind = self.stack.pop(), self.stack.pop()
        if not isinstance(kind, GlobalName) or type(args) is not tuple:
            raise ValueError("not a call")
        if kind.name in NEVER_CALLED:
            raise InvalidFileError(f"calls {kind}, which no file of gensim needs")
        if kind.name == "_reconstructor":  # of an object whose class is the first argument
            kind, args = args[0], ()
            if not isinstance(kind, GlobalName):
                raise ValueError("not a class")
        items: dict[Any, Any] | None = {} if kind.name in DICTIONARIES else None
        self.push(StoredObject(kind, args, None, items))

    def set_state(self) -> None:
        """BUILD: record the state of an object, once."""
        state, target = self.stack.pop(), self.stack[-1]
        if not isinstance(target, StoredObject) or target.state is not None:
            raise ValueError("no object to build")
        target.state = state

    def set_items(self, values: list[Any]) -> None:
        """Fill a dictionary."""
        target = self.stack[-1]
        items = target.items if isinstance(target, StoredObject) else target
        if type(items) is not dict or len(values) % 2:
            raise ValueError("not a dictionary")
        for key in values[::2]:
            if type(key) not in KEY_TYPES or (type(key) is int and abs(key) >> 63):
                raise InvalidFileError("has a dictionary whose keys are not words and numbers")
        items.update(zip(values[::2], values[1::2], strict=True))

    def extend(self, values: list[Any]) -> None:
        """Fill a list."""
        if type(self.stack[-1]) is not list:
            raise ValueError("not a list")
        self.stack[-1].extend(values)

    def text(self, size: int) -> str:
        """A string in UTF-8, with surrogates as Python writes them."""
        return str(self.take(size), "utf-8", "surrogatepass")

    def content(self, size: int) -> bytes | memoryview:
        """Bytes; long ones stay in the file."""
        chunk = self.take(size)
        return chunk if size > SHORT_BYTES else bytes(chunk)

    def integer(self, size: int) -> int:
        """An integer of any size, little-endian."""
        if size > MAX_INTEGER_BYTES:
            raise ValueError("too large")
        return int.from_bytes(self.take(size), "little", signed=True)

    def int_line(self) -> int | bool:
        """An integer in text; Python 2 writes booleans as 00 and 01."""
        line = self.line()
        if len(line) > MAX_INTEGER_BYTES:
            raise ValueError("too large")
        return line == "01" if line in ("00", "01") else int(line.rstrip("L"))

    def tuple_of(self, size: int) -> None:
        """Replace the last values with a tuple of them."""
        if len(self.stack) < size:
            raise ValueError("too few values")
        self.stack[-size:] = [tuple(self.stack[-size:])]


# Objects, such as single numbers of NumPy, are hashed by identity.
KEY_TYPES = {str, int, bytes, bool, type(None), StoredObject}
STOP = ord(".")
INSTRUCTIONS: dict[int, Callable[[PickleReader], Any]] = {
    0x80: lambda it: it.take(1),  # PROTO
    0x95: lambda it: it.take(8),  # FRAME: its bytes follow
    ord("("): PickleReader.mark,
    ord("0"): lambda it: it.stack.pop(),  # POP
    ord("1"): PickleReader.pop_mark,
    ord("N"): lambda it: it.push(None),
    0x88: lambda it: it.push(True),
    0x89: lambda it: it.push(False),
    ord("I"): lambda it: it.push(it.int_line()),
    ord("L"): lambda it: it.push(it.int_line()),
    ord("J"): lambda it: it.push(it.number("<i")),
    ord("K"): lambda it: it.push(it.number("<B")),
    ord("M"): lambda it: it.push(it.number("<H")),
    0x8A: lambda it: it.push(it.integer(it.number("<B"))),  # LONG1
    0x8B: lambda it: it.push(it.integer(it.number("<i"))),  # LONG4
    ord("F"): lambda it: it.push(float(it.line())),
    ord("G"): lambda it: it.push(it.number(">d")),
    # Strings of Python 2 are read as Latin-1, as gensim does.
    ord("T"): lambda it: it.push(str(it.take(it.number("<i")), "latin-1")),
    ord("U"): lambda it: it.push(str(it.take(it.number("<B")), "latin-1")),
    ord("X"): lambda it: it.push(it.text(it.number("<I"))),
    0x8C: lambda it: it.push(it.text(it.number("<B"))),
    0x8D: lambda it: it.push(it.text(it.number("<Q"))),
    ord("B"): lambda it: it.push(it.content(it.number("<I"))),
    ord("C"): lambda it: it.push(it.content(it.number("<B"))),
    0x8E: lambda it: it.push(it.content(it.number("<Q"))),
    0x96: lambda it: it.push(it.content(it.number("<Q"))),  # BYTEARRAY8
    ord("]"): lambda it: it.push([]),
    ord("}"): lambda it: it.push({}),
    ord(")"): lambda it: it.push(()),
    ord("l"): lambda it: it.push(it.pop_mark()),  # LIST
    ord("t"): lambda it: it.push(tuple(it.pop_mark())),
    0x85: lambda it: it.tuple_of(1),
    0x86: lambda it: it.tuple_of(2),
    0x87: lambda it: it.tuple_of(3),
    0x8F: lambda it: it.push([]),  # EMPTY_SET: sets are lists here, so that nothing is hashed
    0x90: lambda it: it.extend(it.pop_mark()),  # ADDITEMS
    0x91: lambda it: it.push(tuple(it.pop_mark())),  # FROZENSET
    ord("a"): lambda it: it.extend([it.stack.pop()]),
    ord("e"): lambda it: it.extend(it.pop_mark()),
    ord("s"): lambda it: it.set_items([it.stack.pop(), it.stack.pop()][::-1]),
    ord("u"): lambda it: it.set_items(it.pop_mark()),
    ord("c"): lambda it: it.push_name(it.line(), it.line()),
    0x93: lambda it: it.push_name(*[it.stack.pop(), it.stack.pop()][::-1]),  # STACK_GLOBAL
    ord("R"): PickleReader.build_object,
    0x81: PickleReader.build_object,  # NEWOBJ
    ord("b"): PickleReader.set_state,
    ord("q"): lambda it: it.memo.__setitem__(it.number("<B"), it.stack[-1]),
    ord("r"): lambda it: it.memo.__setitem__(it.number("<I"), it.stack[-1]),
    0x94: lambda it: it.memo.__setitem__(len(it.memo), it.stack[-1]),
    ord("h"): lambda it: it.push(it.memo[it.number("<B")]),
    ord("j"): lambda it: it.push(it.memo[it.number("<I")]),
}
