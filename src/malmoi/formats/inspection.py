"""A description of a file of vectors: what is in it, what is wrong, and how to fix it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from malmoi.arguments import expect_path
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import verify_file
from malmoi.formats import PathLike, read
from malmoi.formats.malmoi_file import matches as is_ours
from malmoi.formats.reading import LoadReport, LoadRequest, decomposed_rows
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.subwords import SubwordVectors
from malmoi.vectors import Vectors

NO_CHECKSUMS = "none in this format"
UNIT_TOLERANCE = 1e-3  # how far the length of a normalized vector may be from 1


@dataclass(frozen=True)
class Finding:
    """A problem in a file: how often it occurs, an example, and how to fix it."""

    problem: str
    count: int
    example: str
    advice: str


@dataclass(frozen=True)
class Inspection:
    """The description of a file of vectors."""

    path: str
    format: str
    rows: int
    dim: int
    numbers: str  # how the file stores them
    bytes: int
    zipped: bool
    counts: bool
    normalised: bool
    subwords: str  # the lengths of its n-grams, or "none"
    meta: dict[str, str]
    checksums: str  # whether the file has any; they are verified
    findings: tuple[Finding, ...]


def inspect(
    path: PathLike, *, encoding: str = "utf-8", reporter: Reporter = DEFAULT_REPORTER
) -> Inspection:
    """Read a whole file, skip what is malformed, and describe it with its problems.

    Args:
        path: A file of vectors in any format, or `glove-6b-50d`.
        encoding: The encoding of the words in the file.
        reporter: Receives progress.

    Returns:
        The description; its `findings` are the problems, each with a count and advice.

    Raises:
        InvalidFileError: The file is missing, damaged, or of no supported format.

    Example:
        mm.save(mm.Vectors(["tea", "coffee"], [[1.0, 0.2], [0.9, 0.4]]), "drinks.vec")
        mm.inspect("drinks.vec")
    """
    expect_reporter(reporter)
    expect_path(path)
    progress = reporter.stage(f"reading {path}")
    request = LoadRequest(strict=False, encoding=encoding, progress=progress)
    result = read(path, request)
    vectors = result.vectors
    source = InputFile(Path(path)) if Path(path).exists() else None  # None: in a package
    return Inspection(
        path=str(path),
        format=result.report.format,
        rows=len(vectors),
        dim=vectors.dim,
        numbers=result.report.numbers,
        bytes=source.size if source else 0,
        zipped=bool(source and source.compressed),
        counts=vectors.counts is not None,
        normalised=bool(len(vectors)) and bool(np.all(np.abs(vectors.norms - 1) < UNIT_TOLERANCE)),
        subwords=describe_subwords(vectors),
        meta=dict(vectors.meta),
        checksums=verify_file(source) if source and is_ours(source) else NO_CHECKSUMS,
        findings=tuple(find_problems(vectors, result.report)),
    )


def describe_subwords(vectors: Vectors) -> str:
    """The lengths of the n-grams and the number of buckets, for people."""
    if not isinstance(vectors, SubwordVectors) or vectors.subwords.max_n <= 0:
        return "none"
    subwords = vectors.subwords
    pruned = "" if vectors.kept_buckets is None else f", pruned to {len(vectors.kept_buckets):,}"
    lengths = f"{subwords.min_n} to {subwords.max_n} characters"
    return f"{lengths} in {subwords.buckets:,} buckets{pruned}"


def find_problems(vectors: Vectors, report: LoadReport) -> list[Finding]:
    """All problems of a file."""
    skip = "malmoi convert --skip-bad-rows skips them"
    take = "malmoi convert --skip-bad-rows reads the valid rows"
    findings = [
        Finding(problem, 1, "", report.advice.get(problem, take)) for problem in report.problems
    ]
    for problem, issue, advice in (
        ("malformed rows", report.malformed, skip),
        ("rows with nan or inf", report.not_finite, skip),
        ("repeated keys", report.repeated, "malmoi convert writes the first row of each"),
        (
            "keys that are not UTF-8",
            report.undecodable,
            "give the right --encoding; otherwise they are preserved byte for byte",
        ),
    ):
        if issue.count:
            findings.append(Finding(problem, issue.count, issue.example, advice))
    rows = decomposed_rows(vectors.keys)
    if len(rows):
        advice = "look-ups find them in either form; malmoi convert --nfc composes them"
        findings.append(Finding("keys not in NFC", len(rows), vectors.keys[int(rows[0])], advice))
    zero = np.flatnonzero(vectors.norms == 0)
    if len(zero):
        advice = "their similarity to all words is 0; remove them or train longer"
        findings.append(Finding("rows of zeros", len(zero), vectors.keys[int(zero[0])], advice))
    empty = np.flatnonzero(np.diff(vectors.keys.offsets) == 0)
    if len(empty):
        findings.append(
            Finding("empty keys", len(empty), f"row {empty[0] + 1}", "probably a mistake")
        )
    return findings
