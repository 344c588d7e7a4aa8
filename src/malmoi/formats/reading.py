"""What `load` passes to the reader of a format and what it gets back, and shared row checks.

Knows nothing about any one format.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self
from unicodedata import is_normalized, normalize

import numpy as np

from malmoi.arguments import expect_integer
from malmoi.arrays import BoolArray, Float32Array, Int64Array
from malmoi.errors import InvalidArgumentError, InvalidFileError, check_encoding, printable
from malmoi.keys import Keys
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors

MAX_KEY_BYTES = 1 << 16  # a longer key means that the file is of another format
STRICT_HINT = "to skip such rows, use strict=False (convert --skip-bad-rows)"


@dataclass(frozen=True, kw_only=True)
class LoadRequest:
    """Which rows to read, and whether malformed rows are errors."""

    limit: int | None = None
    only: frozenset[str] | None = None  # in NFC
    strict: bool = True
    encoding: str = "utf-8"
    progress: Progress = no_progress

    def __post_init__(self) -> None:
        if self.limit is not None:
            expect_integer(self.limit, "limit")
        if self.limit is not None and self.limit < 0:
            raise InvalidArgumentError(f"limit is {self.limit}: give the number of rows to read")
        check_encoding(self.encoding)

    def wanted_keys(self) -> Keys:
        """The words of `only` as they may be in the file: composed (NFC) or decomposed (NFD)."""
        forms = {form for word in self.only or () for form in (word, normalize("NFD", word))}
        return Keys.of_bytes([text for form in forms for text in self._encode(form)])

    def _encode(self, form: str) -> list[bytes]:
        try:
            return [form.encode(self.encoding, "surrogateescape")]
        except UnicodeEncodeError:  # then it cannot be in the file
            return []


@dataclass(kw_only=True)
class IssueCount:
    """How often a problem occurs in a file, and its first example."""

    count: int = 0
    example: str = ""

    def add(self, count: int, example: str) -> None:
        """Count more cases."""
        self.example = self.example or printable(example)
        self.count += count


@dataclass(kw_only=True)
class LoadReport:
    """The problems that a reader counted; `malmoi.reporting.reporter.InputStats`."""

    format: str = ""
    rows: int = 0
    numbers: str = "float32"  # how the file stores them
    malformed: IssueCount = field(default_factory=IssueCount)
    not_finite: IssueCount = field(default_factory=IssueCount)
    repeated: IssueCount = field(default_factory=IssueCount)
    undecodable: IssueCount = field(default_factory=IssueCount)
    problems: list[str] = field(default_factory=list)  # of the whole file
    advice: dict[str, str] = field(default_factory=dict)  # for problems that have their own

    def add(self, other: Self) -> None:
        """Add the counts of another file."""
        self.rows += other.rows
        self.problems += other.problems
        for name in ("malformed", "not_finite", "repeated", "undecodable"):
            issue: IssueCount = getattr(other, name)
            getattr(self, name).add(issue.count, issue.example)

    def sentences(self, *, numbered: bool = True) -> list[str]:
        """One sentence per problem, with its count and its first example."""
        templates = {
            "malformed rows skipped: {:,}, the first at {}": self.malformed,
            "rows with nan or inf skipped: {:,}, the first at {}": self.not_finite,
            "repeated keys (only the first row is used): {:,}, such as '{}'": self.repeated,
            "keys that are not UTF-8 (preserved byte for byte): {:,}, such as '{}'": (
                self.undecodable
            ),
        }
        issues = [(text, issue) for text, issue in templates.items() if issue.count]
        return [*self.problems, *(text.format(it.count, it.example) for text, it in issues)]


@dataclass(frozen=True)
class LoadResult:
    """The vectors of a file and the problems in it."""

    vectors: Vectors
    report: LoadReport


def chosen_rows(keys: Keys, request: LoadRequest) -> Int64Array:
    """The requested rows of a file whose keys are all known."""
    rows = np.arange(min(len(keys), len(keys) if request.limit is None else request.limit))
    if request.only is None:
        return rows
    requested = np.sort(keys.find_all(request.wanted_keys()))
    return requested[(requested >= 0) & (requested < len(rows))]


def select_rows(
    vectors: Vectors, request: LoadRequest, describe_row: Callable[[int], str]
) -> LoadResult:
    """The requested, valid rows of vectors that are in memory or in a mapped file as a whole."""
    report = LoadReport(rows=len(vectors))
    if request.limit is not None or request.only is not None:
        vectors = vectors.take(chosen_rows(vectors.keys, request))
    is_finite = finite_rows(vectors.matrix)
    if not is_finite.all():
        first = int(np.argmin(is_finite))
        reason = f"{describe_row(first)}: the vector of '{vectors.keys[first]}' holds nan or inf"
        report_or_raise(report.not_finite, int((~is_finite).sum()), reason, request)
        vectors = vectors.take(np.flatnonzero(is_finite))
    count_undecodable(vectors.keys, report)
    return LoadResult(without_repeats(vectors, report), report)


def report_or_raise(issue: IssueCount, count: int, reason: str, request: LoadRequest) -> None:
    """Raise `InvalidFileError` for malformed rows if strict; otherwise count them."""
    if request.strict:
        raise InvalidFileError(f"{reason}; {STRICT_HINT}")
    issue.add(count, reason)


def finite_rows(matrix: Float32Array, block_rows: int = 65536) -> BoolArray:
    """Which rows hold neither nan nor inf."""
    is_finite = np.ones(len(matrix), dtype=np.bool_)
    for first in range(0, len(matrix), block_rows):
        block = np.isfinite(matrix[first : first + block_rows])
        if not block.all():
            is_finite[first : first + block_rows] = block.all(axis=1)
    return is_finite


def without_repeats(vectors: Vectors, report: LoadReport) -> Vectors:
    """The first row of every key."""
    repeats = vectors.keys.repeats()
    if not len(repeats):
        return vectors
    report.repeated.add(len(repeats), vectors.keys[int(repeats[0])])
    return vectors.take(np.setdiff1d(np.arange(len(vectors)), repeats, assume_unique=True))


def undecodable_rows(keys: Keys) -> Int64Array:
    """The rows whose key is not UTF-8."""
    first_bytes = keys.packed[keys.offsets[:-1][np.diff(keys.offsets) > 0]]
    try:
        str(keys.packed.data, "utf-8")
        if not np.any(first_bytes & 0xC0 == 0x80):  # no character is split between two keys
            return np.empty(0, dtype=np.int64)
    except UnicodeDecodeError:
        pass
    return np.array(
        [row for row, key in enumerate(keys) if any("\udc80" <= c <= "\udcff" for c in key)],
        dtype=np.int64,
    )


def count_undecodable(keys: Keys, report: LoadReport) -> None:
    """Count keys that are not UTF-8."""
    rows = undecodable_rows(keys)
    if len(rows):
        report.undecodable.add(len(rows), keys[int(rows[0])])


def decomposed_rows(keys: Keys) -> Int64Array:
    """The rows whose key is not in NFC, such as Hangul decomposed into jamo."""
    if len(keys.packed) == 0 or keys.packed.max() < 0xCC:  # no combining mark, no jamo
        return np.empty(0, dtype=np.int64)
    return np.array(
        [row for row, key in enumerate(keys) if not is_normalized("NFC", key)],
        dtype=np.int64,
    )


def decode_keys(keys: Keys, encoding: str) -> Keys:
    """Keys of a file whose encoding is not UTF-8, converted to UTF-8."""
    if encoding == "utf-8":
        return keys
    return Keys.of(
        keys.bytes_at(row).decode(encoding, "surrogateescape") for row in range(len(keys))
    )


def nfc(word: str) -> str:
    """A word in NFC, the composed form."""
    return normalize("NFC", word)
