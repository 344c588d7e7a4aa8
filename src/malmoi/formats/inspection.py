"""What is in a file of vectors, what is wrong with it, and what to do about it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from malmoi.files.source import InputFile
from malmoi.files.tensor_file import verify_file
from malmoi.formats import PathLike, read
from malmoi.formats.malmoi_file import matches as is_ours
from malmoi.formats.reading import LoadReport, LoadRequest, decomposed
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.subwords import SubwordVectors
from malmoi.vectors import Vectors

NO_CHECKSUMS = "none in this format"
UNIT = 1e-3  # how far from 1 the length of a normalised vector may be


@dataclass(frozen=True)
class Finding:
    """Something about a file that its user should know, and what helps."""

    problem: str
    count: int
    example: str
    advice: str


@dataclass(frozen=True)
class Inspection:
    """A file of vectors, described."""

    path: str
    format: str
    rows: int
    dim: int
    numbers: str  # how the file writes them
    bytes: int
    zipped: bool
    counts: bool
    normalised: bool
    subwords: str  # how words are cut, if they are
    meta: dict[str, str]
    checksums: str  # whether there are any, and that they are right
    findings: tuple[Finding, ...]


def inspect(
    path: PathLike, *, encoding: str = "utf-8", progress: Progress = no_progress
) -> Inspection:
    """Read a file to its end, whatever is wrong with it, and say what was found."""
    request = LoadRequest(strict=False, encoding=encoding, progress=progress)
    reading = read(path, request)
    vectors = reading.vectors
    source = InputFile(Path(path)) if Path(path).exists() else None  # None: in a package
    return Inspection(
        path=str(path),
        format=reading.report.format,
        rows=len(vectors),
        dim=vectors.dim,
        numbers=reading.report.numbers,
        bytes=source.size if source else 0,
        zipped=bool(source and source.compressed),
        counts=vectors.counts is not None,
        normalised=bool(len(vectors)) and bool(np.all(np.abs(vectors.norms - 1) < UNIT)),
        subwords=describe_subwords(vectors),
        meta=dict(vectors.meta),
        checksums=verify_file(source) if source and is_ours(source) else NO_CHECKSUMS,
        findings=tuple(findings(vectors, reading.report)),
    )


def describe_subwords(vectors: Vectors) -> str:
    """In words."""
    if not isinstance(vectors, SubwordVectors) or vectors.subwords.max_n <= 0:
        return "none"
    cut = vectors.subwords
    pruned = "" if vectors.kept_buckets is None else f", pruned to {len(vectors.kept_buckets):,}"
    return f"{cut.min_n} to {cut.max_n} characters in {cut.buckets:,} buckets{pruned}"


def findings(vectors: Vectors, report: LoadReport) -> list[Finding]:
    """All that is wrong or odd."""
    skip = "malmoi convert --skip-bad-rows leaves them out"
    take = "malmoi convert --skip-bad-rows takes what is there"
    found = [Finding(remark, 1, "", take) for remark in report.remarks]
    for problem, met, advice in (
        ("rows that do not fit", report.misfits, skip),
        ("rows with nan or inf", report.not_finite, skip),
        ("keys that come again", report.repeated, "malmoi convert keeps the first row of each"),
        (
            "keys that are not UTF-8",
            report.undecodable,
            "name their --encoding if it is another; otherwise they are kept byte for byte",
        ),
    ):
        if met.count:
            found.append(Finding(problem, met.count, met.first, advice))
    apart = decomposed(vectors.keys)
    if len(apart):
        advice = "look-ups find them in either form; malmoi convert --nfc composes them"
        found.append(Finding("keys not in NFC", len(apart), vectors.keys[int(apart[0])], advice))
    zero = np.flatnonzero(vectors.norms == 0)
    if len(zero):
        advice = "nothing is near to them; leave them out or train longer"
        found.append(Finding("rows of zeros", len(zero), vectors.keys[int(zero[0])], advice))
    empty = np.flatnonzero(np.diff(vectors.keys.offsets) == 0)
    if len(empty):
        found.append(
            Finding("empty keys", len(empty), f"row {empty[0] + 1}", "probably an accident")
        )
    return found
