"""RowGatherer: collects the requested rows of a file block by block.

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
    count_undecodable,
    decode_keys,
    finite_rows,
    nfc,
    report_or_raise,
    without_repeats,
)
from malmoi.keys import Keys, hash_words, pack_spans
from malmoi.vectors import Vectors


class RowGatherer:
    """Collects the requested rows, block by block, and counts malformed ones."""

    def __init__(self, source: InputFile, request: LoadRequest, dim: int) -> None:
        self.path, self.request, self.dim = source.path, request, dim
        self.report = LoadReport()
        self.matrix: Float32Array = np.empty((0, dim), dtype=np.float32)
        self.count = 0  # of the rows of `matrix` in use
        self._keys: list[tuple[UInt8Array, Int64Array]] = []
        self._missing = None if request.only is None else set(request.only)
        self._wanted = None if request.only is None else request.wanted_keys()

    @property
    def is_done(self) -> bool:
        """Whether all requested rows have been read."""
        limit = self.request.limit
        return self._missing == set() or (limit is not None and self.report.rows >= limit)

    def expect(self, rows: int) -> None:
        """Allocate memory for about so many rows; the system provides it as it is written."""
        if self.request.only is None and self.count == 0:
            limit = rows if self.request.limit is None else min(rows, self.request.limit)
            self.matrix = np.empty((limit, self.dim), dtype=np.float32)

    def reserve(self, rows: int) -> Float32Array:
        """A buffer for so many further rows, at the end of the matrix."""
        needed = self.count + rows
        if needed > len(self.matrix):
            # In place: large arrays are moved by the operating system, not copied.
            self.matrix.resize((max(needed, len(self.matrix) * 3 // 2), self.dim), refcheck=False)
        return self.matrix[self.count : needed]

    def add(
        self,
        text: UInt8Array,
        starts: Int64Array,
        stops: Int64Array,
        describe_row: Callable[[int], str],
    ) -> None:
        """Add the rows just written to the reserved buffer; their keys are spans of `text`.

        `describe_row(i)` locates the i-th of them in an error.
        """
        limit = self.request.limit
        rows = len(starts) if limit is None else min(len(starts), limit - self.report.rows)
        block = self.matrix[self.count : self.count + rows]
        self.report.rows += rows
        packed, offsets = pack_spans(text, starts[:rows], stops[:rows])
        chosen = self._finite(block, Keys(packed, offsets), describe_row)
        if self._wanted is not None:
            chosen = chosen[self._requested(Keys(packed, offsets).take(chosen))]
        if len(chosen) < len(block):
            block[: len(chosen)] = block[chosen]
            keys = Keys(packed, offsets).take(chosen)
            packed, offsets = keys.packed, keys.offsets
        self._keys.append((packed, offsets))
        self.count += len(chosen)

    def report_problem(self, problem: str) -> None:
        """Raise `InvalidFileError` for a problem of the whole file if strict, or report it."""
        if self.request.strict:
            raise InvalidFileError(
                f"{problem}; to read the valid rows, use strict=False (--skip-bad-rows)"
            )
        self.report.problems.append(problem)

    def finish(self) -> LoadResult:
        """All collected rows, without repeated keys."""
        self.matrix.resize((self.count, self.dim), refcheck=False)
        keys = decode_keys(join_keys(self._keys), self.request.encoding)
        vectors = without_repeats(Vectors(keys, self.matrix), self.report)
        count_undecodable(vectors.keys, self.report)
        return LoadResult(vectors, self.report)

    def _finite(
        self, block: Float32Array, keys: Keys, describe_row: Callable[[int], str]
    ) -> Int64Array:
        is_finite = finite_rows(block)
        if not is_finite.all():
            bad = int(np.argmin(is_finite))
            value = block[bad][~np.isfinite(block[bad])][0]
            reason = f"{describe_row(bad)}: the vector of '{keys[bad]}' holds {value}"
            report_or_raise(self.report.not_finite, int((~is_finite).sum()), reason, self.request)
        return np.flatnonzero(is_finite)

    def _requested(self, keys: Keys) -> Int64Array:
        assert self._wanted is not None
        assert self._missing is not None
        hashes = hash_words(keys.packed, keys.offsets)
        likely = np.flatnonzero(np.isin(hashes, self._wanted.lookup[0]))
        rows = np.array([i for i in likely.tolist() if keys[i] in self._wanted], dtype=np.int64)
        words = decode_keys(keys.take(rows), self.request.encoding)
        self._missing.difference_update(map(nfc, words))
        return rows


def join_keys(parts: list[tuple[UInt8Array, Int64Array]]) -> Keys:
    """Concatenate packed keys."""
    if not parts:
        return Keys.of([])
    lengths = np.concatenate([np.diff(offsets) for _, offsets in parts])
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Keys(np.concatenate([packed for packed, _ in parts]), offsets)
