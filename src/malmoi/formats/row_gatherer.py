"""Gatherer: rows collected block by block, keeping only those asked for.

For files that are read as a stream: text and word2vec's binary.
"""

from collections.abc import Callable

import numpy as np

from malmoi.arrays import Float32Array, Int64Array, UInt8Array
from malmoi.errors import InvalidFileError
from malmoi.files.source import InputFile
from malmoi.formats.reading import (
    LoadReport,
    LoadRequest,
    LoadResult,
    finite_rows,
    nfc,
    note_undecodable,
    recoded,
    refuse_or_note,
    without_repeats,
)
from malmoi.keys import Keys, hash_words, pack_spans
from malmoi.vectors import Vectors


class Gatherer:
    """Collects rows block by block, keeping only those asked for."""

    def __init__(self, source: InputFile, request: LoadRequest, dim: int) -> None:
        self.path, self.request, self.dim = source.path, request, dim
        self.report = LoadReport()
        self.matrix: Float32Array = np.empty((0, dim), dtype=np.float32)
        self.kept = 0
        self._keys: list[tuple[UInt8Array, Int64Array]] = []
        self._missing = None if request.only is None else set(request.only)
        self._wanted = None if request.only is None else request.wanted()

    @property
    def is_done(self) -> bool:
        """Whether nothing more can be wanted."""
        limit = self.request.limit
        return self._missing == set() or (limit is not None and self.report.rows >= limit)

    def expect(self, rows: int) -> None:
        """Take memory for about this many rows at once (it is used only as they come)."""
        if self.request.only is None and self.kept == 0:
            limit = rows if self.request.limit is None else min(rows, self.request.limit)
            self.matrix = np.empty((limit, self.dim), dtype=np.float32)

    def room(self, rows: int) -> Float32Array:
        """Space for this many further rows, at the end of the matrix."""
        needed = self.kept + rows
        if needed > len(self.matrix):
            # In place: large arrays are moved by the operating system, not copied.
            self.matrix.resize((max(needed, len(self.matrix) * 3 // 2), self.dim), refcheck=False)
        return self.matrix[self.kept : needed]

    def add(
        self, text: UInt8Array, starts: Int64Array, stops: Int64Array, place: Callable[[int], str]
    ) -> None:
        """Take the rows just written to `room`; their keys are spans of `text`.

        `place(i)` names the i-th of them for an error.
        """
        limit = self.request.limit
        rest = len(starts) if limit is None else min(len(starts), limit - self.report.rows)
        block = self.matrix[self.kept : self.kept + rest]
        self.report.rows += rest
        packed, offsets = pack_spans(text, starts[:rest], stops[:rest])
        chosen = self._finite(block, Keys(packed, offsets), place)
        if self._wanted is not None:
            chosen = chosen[self._asked_for(Keys(packed, offsets).take(chosen))]
        if len(chosen) < len(block):
            block[: len(chosen)] = block[chosen]
            keys = Keys(packed, offsets).take(chosen)
            packed, offsets = keys.packed, keys.offsets
        self._keys.append((packed, offsets))
        self.kept += len(chosen)

    def remark(self, problem: str) -> None:
        """Something wrong with the whole file: the end of it, or noted."""
        if self.request.strict:
            raise InvalidFileError(
                f"{problem}; to take what is there, use strict=False (--skip-bad-rows)"
            )
        self.report.remarks.append(problem)

    def finish(self) -> LoadResult:
        """All that was gathered, without repeats."""
        self.matrix.resize((self.kept, self.dim), refcheck=False)
        keys = recoded(joined(self._keys), self.request.encoding)
        vectors = without_repeats(Vectors(keys, self.matrix), self.report)
        note_undecodable(vectors.keys, self.report)
        return LoadResult(vectors, self.report)

    def _finite(self, block: Float32Array, keys: Keys, place: Callable[[int], str]) -> Int64Array:
        finite = finite_rows(block)
        if not finite.all():
            bad = int(np.argmin(finite))
            value = block[bad][~np.isfinite(block[bad])][0]
            why = f"{place(bad)}: the vector of '{keys[bad]}' holds {value}"
            refuse_or_note(self.report.not_finite, int((~finite).sum()), why, self.request)
        return np.flatnonzero(finite)

    def _asked_for(self, keys: Keys) -> Int64Array:
        assert self._wanted is not None
        assert self._missing is not None
        hashes = hash_words(keys.packed, keys.offsets)
        likely = np.flatnonzero(np.isin(hashes, self._wanted.lookup[0]))
        found = [i for i in likely.tolist() if keys[i] in self._wanted]
        given = recoded(keys.take(np.array(found, dtype=np.int64)), self.request.encoding)
        self._missing.difference_update(map(nfc, given))
        return np.array(found, dtype=np.int64)


def joined(parts: list[tuple[UInt8Array, Int64Array]]) -> Keys:
    """Packed keys, one list after the other."""
    if not parts:
        return Keys.of([])
    lengths = np.concatenate([np.diff(offsets) for _, offsets in parts])
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Keys(np.concatenate([packed for packed, _ in parts]), offsets)
