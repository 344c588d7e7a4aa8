"""What is asked of a reader, what it gives back, and the rows it gathers on the way.

Knows nothing of any one format.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from unicodedata import is_normalized, normalize

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array
from malmoi.errors import InvalidArgumentError, InvalidFileError, check_encoding, printable
from malmoi.keys import Keys
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors

LONGEST_KEY = 1 << 16  # bytes; past that it is no key but a file of another kind


LENIENT = "to leave such rows out, use strict=False (convert --skip-bad-rows)"


@dataclass(frozen=True, kw_only=True)
class LoadRequest:
    """Which rows are wanted, and what happens to those that make no sense."""

    limit: int | None = None
    only: frozenset[str] | None = None  # in NFC
    strict: bool = True
    encoding: str = "utf-8"
    progress: Progress = no_progress

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 0:
            raise InvalidArgumentError(f"limit is {self.limit}: it counts rows")
        check_encoding(self.encoding)

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
class IssueCount:
    """How often something was met, and the first case of it."""

    count: int = 0
    first: str = ""

    def note(self, count: int, first: str) -> None:
        """Count more cases."""
        self.first = self.first or printable(first)
        self.count += count


@dataclass(kw_only=True)
class LoadReport:
    """What a reader met on the way."""

    format: str = ""
    rows: int = 0
    numbers: str = "float32"  # how the file writes them
    misfits: IssueCount = field(default_factory=IssueCount)
    not_finite: IssueCount = field(default_factory=IssueCount)
    repeated: IssueCount = field(default_factory=IssueCount)
    undecodable: IssueCount = field(default_factory=IssueCount)
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
class LoadResult:
    """The vectors of a file and what was met on the way."""

    vectors: Vectors
    report: LoadReport


def chosen_rows(keys: Keys, request: LoadRequest) -> Int64Array:
    """Which rows of a file, whose keys are all known, are asked for."""
    rows = np.arange(min(len(keys), len(keys) if request.limit is None else request.limit))
    if request.only is None:
        return rows
    found = np.sort(keys.find_all(request.wanted()))
    return found[(found >= 0) & (found < len(rows))]


def selected(vectors: Vectors, request: LoadRequest, place: Callable[[int], str]) -> LoadResult:
    """What is asked for of vectors that lie in memory or in a mapped file as a whole."""
    report = LoadReport(rows=len(vectors))
    if request.limit is not None or request.only is not None:
        vectors = vectors.take(chosen_rows(vectors.keys, request))
    finite = finite_rows(vectors.matrix)
    if not finite.all():
        first = int(np.argmin(finite))
        why = f"{place(first)}: the vector of '{vectors.keys[first]}' holds nan or inf"
        refuse_or_note(report.not_finite, int((~finite).sum()), why, request)
        vectors = vectors.take(np.flatnonzero(finite))
    note_undecodable(vectors.keys, report)
    return LoadResult(without_repeats(vectors, report), report)


def refuse_or_note(met: IssueCount, count: int, why: str, request: LoadRequest) -> None:
    """Rows that make no sense: the end of it, or counted and left out."""
    if request.strict:
        raise InvalidFileError(f"{why}; {LENIENT}")
    met.note(count, why)


def finite_rows(matrix: Float32Array, block: int = 65536) -> npt.NDArray[np.bool_]:
    """Which rows hold neither nan nor inf."""
    finite = np.ones(len(matrix), dtype=np.bool_)
    for first in range(0, len(matrix), block):
        part = np.isfinite(matrix[first : first + block])
        if not part.all():
            finite[first : first + block] = part.all(axis=1)
    return finite


def without_repeats(vectors: Vectors, report: LoadReport) -> Vectors:
    """The first row of every key."""
    repeats = vectors.keys.repeats()
    if not len(repeats):
        return vectors
    report.repeated.note(len(repeats), vectors.keys[int(repeats[0])])
    return vectors.take(np.setdiff1d(np.arange(len(vectors)), repeats, assume_unique=True))


def undecodable(keys: Keys) -> Int64Array:
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


def note_undecodable(keys: Keys, report: LoadReport) -> None:
    """Count keys that are not UTF-8."""
    rows = undecodable(keys)
    if len(rows):
        report.undecodable.note(len(rows), keys[int(rows[0])])


def decomposed(keys: Keys) -> Int64Array:
    """The rows whose key is not in NFC, such as Hangul taken apart into its letters."""
    if len(keys.packed) == 0 or keys.packed.max() < 0xCC:  # no combining mark, no jamo
        return np.empty(0, dtype=np.int64)
    return np.array(
        [row for row, key in enumerate(keys) if not is_normalized("NFC", key)],
        dtype=np.int64,
    )


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
