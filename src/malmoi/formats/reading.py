"""What is asked of a reader, what it gives back, and the rows it gathers on the way.

Knows nothing of any one format.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from unicodedata import is_normalized, normalize

import numpy as np
import numpy.typing as npt

from malmoi.errors import BadFile, printable
from malmoi.files.progress import Progress, silent
from malmoi.files.source import Source
from malmoi.keys import Bytes, Keys, Offsets, hash_words, pack_spans
from malmoi.vectors import Matrix, Vectors

Rows = npt.NDArray[np.int64]
LONGEST_KEY = 1 << 16  # bytes; past that it is no key but a file of another kind


LENIENT = "to leave such rows out, use strict=False (convert --skip-bad-rows)"


@dataclass(frozen=True, kw_only=True)
class Request:
    """Which rows are wanted, and what happens to those that make no sense."""

    limit: int | None = None
    only: frozenset[str] | None = None  # in NFC
    strict: bool = True
    encoding: str = "utf-8"
    progress: Progress = silent

    def wanted(self) -> Keys:
        """The words asked for as they may stand in the file: composed or taken apart."""
        forms = {form for word in self.only or () for form in (word, normalize("NFD", word))}
        return Keys.of_bytes([text for form in forms for text in self._encoded(form)])

    def _encoded(self, form: str) -> list[bytes]:
        try:
            return [form.encode(self.encoding, "surrogateescape")]
        except UnicodeEncodeError:  # then it cannot stand in the file
            return []


@dataclass(kw_only=True)
class Met:
    """How often something was met, and the first case of it."""

    count: int = 0
    first: str = ""

    def note(self, count: int, first: str) -> None:
        """Count more cases."""
        self.first = self.first or printable(first)
        self.count += count


@dataclass(kw_only=True)
class Report:
    """What a reader met on the way."""

    rows: int = 0
    numbers: str = "float32"  # how the file writes them
    misfits: Met = field(default_factory=Met)
    not_finite: Met = field(default_factory=Met)
    repeated: Met = field(default_factory=Met)
    undecodable: Met = field(default_factory=Met)
    remarks: list[str] = field(default_factory=list)

    def notes(self) -> list[str]:
        """A sentence for each thing that a user should know of."""
        sentences = {
            "rows left out that do not fit: {:,}, the first at {}": self.misfits,
            "rows left out that hold nan or inf: {:,}, the first at {}": self.not_finite,
            "keys that come again (the first row is kept): {:,}, such as '{}'": self.repeated,
            "keys that are not UTF-8 (kept byte for byte): {:,}, such as '{}'": self.undecodable,
        }
        met = [(text, case) for text, case in sentences.items() if case.count]
        return [*self.remarks, *(text.format(case.count, case.first) for text, case in met)]


@dataclass(frozen=True)
class Reading:
    """The vectors of a file and what was met on the way."""

    vectors: Vectors
    report: Report


class Gatherer:
    """Collects rows block by block, keeping only those asked for."""

    def __init__(self, source: Source, request: Request, dim: int) -> None:
        self.path, self.request, self.dim = source.path, request, dim
        self.report = Report()
        self.matrix: Matrix = np.empty((0, dim), dtype=np.float32)
        self.kept = 0
        self._keys: list[tuple[Bytes, Offsets]] = []
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

    def room(self, rows: int) -> Matrix:
        """Space for this many further rows, at the end of the matrix."""
        needed = self.kept + rows
        if needed > len(self.matrix):
            # In place: large arrays are moved by the operating system, not copied.
            self.matrix.resize((max(needed, len(self.matrix) * 3 // 2), self.dim), refcheck=False)
        return self.matrix[self.kept : needed]

    def add(
        self, text: Bytes, starts: Offsets, stops: Offsets, place: Callable[[int], str]
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
            raise BadFile(f"{problem}; to take what is there, use strict=False (--skip-bad-rows)")
        self.report.remarks.append(problem)

    def finish(self) -> Reading:
        """All that was gathered, without repeats."""
        self.matrix.resize((self.kept, self.dim), refcheck=False)
        keys = recoded(joined(self._keys), self.request.encoding)
        vectors = without_repeats(Vectors(keys, self.matrix), self.report)
        note_undecodable(vectors.keys, self.report)
        return Reading(vectors, self.report)

    def _finite(self, block: Matrix, keys: Keys, place: Callable[[int], str]) -> Rows:
        finite = finite_rows(block)
        if not finite.all():
            bad = int(np.argmin(finite))
            value = block[bad][~np.isfinite(block[bad])][0]
            why = f"{place(bad)}: the vector of '{keys[bad]}' holds {value}"
            refuse_or_note(self.report.not_finite, int((~finite).sum()), why, self.request)
        return np.flatnonzero(finite)

    def _asked_for(self, keys: Keys) -> Rows:
        assert self._wanted is not None
        assert self._missing is not None
        hashes = hash_words(keys.packed, keys.offsets)
        likely = np.flatnonzero(np.isin(hashes, self._wanted.lookup[0]))
        found = [i for i in likely.tolist() if keys[i] in self._wanted]
        given = recoded(keys.take(np.array(found, dtype=np.int64)), self.request.encoding)
        self._missing.difference_update(map(nfc, given))
        return np.array(found, dtype=np.int64)


def chosen_rows(keys: Keys, request: Request) -> Rows:
    """Which rows of a file, whose keys are all known, are asked for."""
    rows = np.arange(min(len(keys), len(keys) if request.limit is None else request.limit))
    if request.only is None:
        return rows
    found = np.sort(keys.find_all(request.wanted()))
    return found[(found >= 0) & (found < len(rows))]


def selected(vectors: Vectors, request: Request, place: Callable[[int], str]) -> Reading:
    """What is asked for of vectors that lie in memory or in a mapped file as a whole."""
    report = Report(rows=len(vectors))
    if request.limit is not None or request.only is not None:
        vectors = vectors.take(chosen_rows(vectors.keys, request))
    finite = finite_rows(vectors.matrix)
    if not finite.all():
        first = int(np.argmin(finite))
        why = f"{place(first)}: the vector of '{vectors.keys[first]}' holds nan or inf"
        refuse_or_note(report.not_finite, int((~finite).sum()), why, request)
        vectors = vectors.take(np.flatnonzero(finite))
    note_undecodable(vectors.keys, report)
    return Reading(without_repeats(vectors, report), report)


def refuse_or_note(met: Met, count: int, why: str, request: Request) -> None:
    """Rows that make no sense: the end of it, or counted and left out."""
    if request.strict:
        raise BadFile(f"{why}; {LENIENT}")
    met.note(count, why)


def finite_rows(matrix: Matrix, block: int = 65536) -> npt.NDArray[np.bool_]:
    """Which rows hold neither nan nor inf."""
    finite = np.ones(len(matrix), dtype=np.bool_)
    for first in range(0, len(matrix), block):
        part = np.isfinite(matrix[first : first + block])
        if not part.all():
            finite[first : first + block] = part.all(axis=1)
    return finite


def without_repeats(vectors: Vectors, report: Report) -> Vectors:
    """The first row of every key."""
    repeats = vectors.keys.repeats()
    if not len(repeats):
        return vectors
    report.repeated.note(len(repeats), vectors.keys[int(repeats[0])])
    return vectors.take(np.setdiff1d(np.arange(len(vectors)), repeats, assume_unique=True))


def undecodable(keys: Keys) -> Rows:
    """The rows whose key is not UTF-8."""
    first_bytes = keys.packed[keys.offsets[:-1][np.diff(keys.offsets) > 0]]
    try:
        str(keys.packed.data, "utf-8")
        if not np.any(first_bytes & 0xC0 == 0x80):  # nor is one split between two keys
            return np.empty(0, dtype=np.int64)
    except UnicodeDecodeError:
        pass
    return np.array(
        [row for row, key in enumerate(keys) if any("\udc80" <= c <= "\udcff" for c in key)],
        dtype=np.int64,
    )


def note_undecodable(keys: Keys, report: Report) -> None:
    """Count keys that are not UTF-8."""
    rows = undecodable(keys)
    if len(rows):
        report.undecodable.note(len(rows), keys[int(rows[0])])


def decomposed(keys: Keys) -> Rows:
    """The rows whose key is not in NFC, such as Hangul taken apart into its letters."""
    if len(keys.packed) == 0 or keys.packed.max() < 0xCC:  # no combining mark, no jamo
        return np.empty(0, dtype=np.int64)
    return np.array(
        [row for row, key in enumerate(keys) if not is_normalized("NFC", key)],
        dtype=np.int64,
    )


def joined(parts: list[tuple[Bytes, Offsets]]) -> Keys:
    """Packed keys, one list after the other."""
    if not parts:
        return Keys.of([])
    lengths = np.concatenate([np.diff(offsets) for _, offsets in parts])
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Keys(np.concatenate([packed for packed, _ in parts]), offsets)


def recoded(keys: Keys, encoding: str) -> Keys:
    """Keys of a file in another encoding than UTF-8."""
    if encoding == "utf-8":
        return keys
    return Keys.of(
        keys.bytes_at(row).decode(encoding, "surrogateescape") for row in range(len(keys))
    )


def nfc(word: str) -> str:
    """A word in its composed form."""
    return normalize("NFC", word)
