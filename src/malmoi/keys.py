"""Keys: a list of words packed as bytes, that finds a word's row without a dictionary.

Four flat arrays that can be memory-mapped, so that a file of two million words opens at once: the
UTF-8 bytes end to end, where each word starts, and the words' hashes in ascending order with the
row of each. Bytes that are not UTF-8 are preserved (as Python's surrogate escapes). Knows nothing
about vectors.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Self, overload

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Int64Array, UInt8Array, UInt32Array, UInt64Array
from malmoi.errors import InvalidArgumentError

# The hash of a word is the polynomial sum of (byte + 1) * FACTOR**position, modulo 2**64:
# an odd factor has an inverse there, so that many words can be hashed in one vectorized sum.
FACTOR = 0x9E3779B97F4A7C15
INVERSE = pow(FACTOR, -1, 2**64)
MASK = 2**64 - 1
CHUNK_BYTES = 1 << 20  # hashed at a time


class Keys(Sequence[str]):
    """An immutable sequence of words that finds the row of a word.

    Args:
        packed: The UTF-8 bytes of all words, end to end.
        offsets: Where each word starts in `packed`, and where the last one stops; [n + 1].
        lookup: The hashes in ascending order and the row of each, if they are known already.
    """

    def __init__(
        self,
        packed: UInt8Array,
        offsets: Int64Array,
        lookup: tuple[UInt64Array, UInt32Array] | None = None,
    ) -> None:
        self.packed = packed
        self.offsets = offsets
        if lookup is not None:
            self.__dict__["lookup"] = lookup

    @classmethod
    def of(cls, words: Iterable[str]) -> Self:
        """Pack words.

        Args:
            words: Python strings.

        Returns:
            The keys.

        Raises:
            InvalidArgumentError: A word is not a string, or holds a lone surrogate.
        """
        return cls.of_bytes([encode(word) for word in words])

    @classmethod
    def of_bytes(cls, encoded: Sequence[bytes]) -> Self:
        """Pack words that are UTF-8 already."""
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(word) for word in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    @cached_property
    def lookup(self) -> tuple[UInt64Array, UInt32Array]:
        """The hashes in ascending order and the row of each; equal words are ordered by row."""
        hashes = hash_words(self.packed, self.offsets)
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order.astype(np.uint32)

    def find(self, word: str) -> int:
        """The first row of a word, or -1."""
        return self._find(encode(word))

    def find_all(self, words: Iterable[str]) -> npt.NDArray[np.int64]:
        """The first row of each word, or -1; one search for all of them."""
        queries = Keys.of(words)
        hashes = hash_words(queries.packed, queries.offsets)
        sorted_hashes, _ = self.lookup
        positions = np.searchsorted(sorted_hashes, hashes)
        rows = np.full(len(queries), -1, dtype=np.int64)
        inside = np.flatnonzero(positions < len(sorted_hashes))
        for i in inside[sorted_hashes[positions[inside]] == hashes[inside]].tolist():
            rows[i] = self._find(queries.bytes_at(i), positions[i])
        return rows

    def repeats(self) -> npt.NDArray[np.int64]:
        """The rows whose word occurs in an earlier row already."""
        hashes, rows = self.lookup
        again = np.flatnonzero(hashes[1:] == hashes[:-1]) + 1
        later = rows[again].astype(np.int64)
        if self.take(later) != self.take(rows[again - 1].astype(np.int64)):
            # Some different words share a hash: compare them one by one.
            is_repeat = [self._find(self.bytes_at(row)) < row for row in later.tolist()]
            later = later[np.array(is_repeat)]
        return np.sort(later)

    def bytes_at(self, row: int) -> bytes:
        """The UTF-8 bytes of the word of a row."""
        start, stop = self._starts[row], self._starts[row + 1]
        return bytes(self._memory[start:stop])

    def strings(self, rows: Iterable[int]) -> list[str]:
        """The words of rows; negative indices are not allowed."""
        memory, starts = self._memory, self._starts
        return [
            str(memory[starts[row] : starts[row + 1]], "utf-8", "surrogateescape") for row in rows
        ]

    def take(self, rows: npt.NDArray[np.integer]) -> "Keys":
        """The words of these rows, in this order."""
        rows = np.arange(len(self))[rows]  # negative indices and masks too, as in NumPy
        return Keys(*pack_spans(self.packed, self.offsets[rows], self.offsets[rows + 1]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[str]:
        memory = bytes(self._memory)
        ends = self.offsets.tolist()
        for start, stop in pairwise(ends):
            yield memory[start:stop].decode("utf-8", "surrogateescape")

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> "Keys": ...
    def __getitem__(self, index: int | slice) -> "str | Keys":
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return self.take(np.arange(start, stop, step))
            offsets = self.offsets[start : max(start, stop) + 1]
            return Keys(self.packed[offsets[0] : offsets[-1]], offsets - offsets[0])
        row = index + len(self) if index < 0 else index
        if not 0 <= row < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        return self.bytes_at(row).decode("utf-8", "surrogateescape")

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and is_encodable(word) and self.find(word) >= 0

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Keys)
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.packed, other.packed)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(repr(self[i]) for i in range(min(3, len(self))))
        return f"Keys({len(self)}: {shown}{', …' if len(self) > 3 else ''})"

    def __getstate__(self) -> dict[str, object]:
        """All but the memory views, which cannot be copied and are made again when needed."""
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    def _find(self, word: bytes, position: int | None = None) -> int:
        """Find a word; `position` is that of its hash among the sorted ones, if known."""
        value = hash_word(word)
        hashes, rows = self._sorted
        if position is None:
            position = bisect_left(hashes, value)
        while position < len(hashes) and hashes[position] == value:
            row = rows[position]
            if row < len(self) and self.bytes_at(row) == word:
                return row
            position += 1
        return -1

    # Memory views: a single look-up spends its time on reading single numbers, and that is
    # several times faster from a memory view than from a NumPy array.
    @cached_property
    def _memory(self) -> memoryview:
        return self.packed.data

    @cached_property
    def _starts(self) -> memoryview:
        return self.offsets.data

    @cached_property
    def _sorted(self) -> tuple[memoryview, memoryview]:
        hashes, rows = self.lookup
        return hashes.data, rows.data


def encode(word: str) -> bytes:
    """The bytes of a word: UTF-8, with surrogate escapes turned back into the original bytes."""
    if not isinstance(word, str):
        raise InvalidArgumentError(f"{word!r} is not a word: words are strings")
    try:
        return word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(
            f"{word!r} holds a lone surrogate, which is not a character"
        ) from error


def is_encodable(word: str) -> bool:
    """Whether a word can be stored, which a lone surrogate cannot."""
    try:
        word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def hash_word(word: bytes) -> int:
    """The hash of one word."""
    value, power = 0, 1
    for byte in word:
        value += (byte + 1) * power
        power = power * FACTOR & MASK
    return value & MASK


def hash_words(packed: UInt8Array, offsets: Int64Array) -> UInt64Array:
    """`hash_word` of every packed word, vectorized."""
    hashes = np.empty(len(offsets) - 1, dtype=np.uint64)
    first = 0
    while first < len(hashes):
        last = int(np.searchsorted(offsets, offsets[first] + CHUNK_BYTES, side="right")) - 1
        last = max(last, first + 1)  # at least one word, of any length
        starts = offsets[first:last] - offsets[first]
        text = packed[offsets[first] : offsets[last]]
        terms = np.zeros(len(text) + 1, dtype=np.uint64)  # one more, for empty words
        np.add(text, 1, out=terms[:-1], dtype=np.uint64)
        terms[:-1] *= _powers(FACTOR, len(text))
        sums = np.add.reduceat(terms, starts)
        sums[np.diff(offsets[first : last + 1]) == 0] = 0
        hashes[first:last] = sums * _powers(INVERSE, len(text) + 1)[starts]
        first = last
    return hashes


def pack_spans(
    source: UInt8Array, starts: Int64Array, stops: Int64Array
) -> tuple[UInt8Array, Int64Array]:
    """Copy spans of bytes end to end; returns the bytes and the offsets of the spans, [n + 1]."""
    lengths = stops - starts
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    positions = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
    return source[positions], offsets


def _powers(base: int, count: int) -> UInt64Array:
    powers = np.full(count, base, dtype=np.uint64)
    powers[:1] = 1
    return np.multiply.accumulate(powers)
