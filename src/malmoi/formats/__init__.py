"""Vectors from and to files: `load` detects the format by content, `save` chooses it by name."""

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from malmoi.arguments import expect, expect_path
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.files.source import InputFile, check_name
from malmoi.files.targets import check_writable
from malmoi.formats import catalogue, packaged
from malmoi.formats.reading import LoadRequest, LoadResult, finite_rows, nfc
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.subwords import Subwords, SubwordVectors
from malmoi.vectors import Vectors, expect_vectors

PathLike = str | os.PathLike[str]
SUBWORD_FORMATS = ("fasttext", "malmoi")


def load(
    path: PathLike,
    *,
    limit: int | None = None,
    only: Iterable[str] | None = None,
    strict: bool = True,
    encoding: str = "utf-8",
    reporter: Reporter = DEFAULT_REPORTER,
) -> Vectors:
    """Load vectors from a file in any supported format, plain or gzipped.

    The format is detected by content. Repaired and skipped rows are counted in a warning.

    Args:
        path: A file, or the name of vectors that install with a package: `glove-6b-50d`.
        limit: Read only the first rows; the rest is never held in memory.
        only: Read only the rows of these words; Hangul is matched in NFC and NFD.
        strict: Raise an error for a malformed row or header; False skips malformed rows.
        encoding: The encoding of the words in the file.
        reporter: Receives progress and warnings.

    Returns:
        The vectors; `SubwordVectors` if the file has n-gram rows.

    Raises:
        InvalidFileError: The file is missing, damaged, malformed, or of no supported format.
        InvalidArgumentError: `limit`, `only` or `encoding` is invalid.
        MissingDependencyError: The format needs a package that is not installed.
    """
    expect_reporter(reporter)
    expect_path(path, hint="Vectors(words, matrix) makes vectors of what is in memory")
    if isinstance(only, str):
        raise InvalidArgumentError(f"only is the string '{only}': give a list of words")
    expect(only, Iterable | None, "only", "a list of words")
    words = None if only is None else list(only)
    for word in words or ():
        expect(word, str, "a word of only", "a string")
    request = LoadRequest(
        limit=limit,
        only=None if words is None else frozenset(map(nfc, words)),
        strict=strict,
        encoding=encoding,
        progress=reporter.stage(f"reading {path}"),
    )
    result = read(path, request)
    reporter.inputs(str(path), result.report)
    return result.vectors


def read(path: PathLike, request: LoadRequest) -> LoadResult:
    """Read vectors with a report of the problems in the file."""
    if packaged.is_packaged(str(path)) and not Path(path).exists():
        return packaged.read(str(path), request)
    if (suggestion := packaged.suggest(str(path))) and not Path(path).exists():
        raise InvalidFileError(f"{path} does not exist; did you mean {suggestion}?")
    source = InputFile(Path(path))
    format = catalogue.get_reader(catalogue.detect_format(source))
    result = format.read(source, request)
    result.report.format = result.report.format or format.TITLE
    return result


def save(
    vectors: Vectors,
    path: PathLike,
    *,
    format: str | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> None:
    """Save vectors to a file. A failure or an interruption leaves no partial file.

    Args:
        vectors: The vectors.
        path: The file to write; its suffix selects the format.
        format: The name of the format, if the suffix does not select it.
        reporter: Receives progress, and a warning if the format cannot hold n-grams.

    Raises:
        InvalidArgumentError: The format is unknown, or cannot hold these vectors or words.
        InvalidFileError: The file cannot be written.
        MissingDependencyError: The format needs a package that is not installed.
    """
    expect_reporter(reporter)
    expect_vectors(vectors)
    target = expect_path(path)
    has_subwords = isinstance(vectors, SubwordVectors)
    name = format or catalogue.format_for(target, subwords=has_subwords)
    catalogue.check_compression(target, name)
    if has_subwords and name not in SUBWORD_FORMATS:
        reporter.warn(
            f"{path}: the format {name} cannot hold n-grams: unseen words will have no vector"
        )
    if vectors.dim == 0:
        raise InvalidArgumentError(f"{path} was not written: the vectors have no dimensions")
    is_finite = finite_rows(vectors.matrix)
    if not is_finite.all():
        word = vectors.keys[int(np.argmin(is_finite))]
        raise InvalidArgumentError(
            f"{path} was not written: the vector of '{word}' holds nan or inf"
        )
    progress = reporter.stage(f"writing {path}")
    catalogue.get_format(name).write(vectors, target, progress)


def check_save_path(path: Path, subwords: Subwords | None = None) -> None:
    """Check before a long training that `save` can write its vectors to a path.

    Raises `InvalidArgumentError` or `InvalidFileError` if it cannot.
    """
    check_name(path)
    name = catalogue.format_for(path, subwords=subwords is not None)
    catalogue.check_compression(path, name)
    if name == "fasttext" and subwords is not None:
        from malmoi.formats.fasttext.write_fasttext import check_units  # imports Numba

        check_units(subwords)
    check_writable(path)
