"""Vectors from and to files: `load` tells the format by content, `save` by name."""

import os
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from malmoi.errors import InvalidArgumentError, InvalidFileError, MalmoiWarning
from malmoi.files.source import InputFile
from malmoi.formats import catalogue, packaged
from malmoi.formats.reading import LoadRequest, LoadResult, finite_rows, nfc
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.subwords import SubwordVectors
from malmoi.vectors import Vectors

PathLike = str | os.PathLike[str]


def load(
    path: PathLike,
    *,
    limit: int | None = None,
    only: Iterable[str] | None = None,
    strict: bool = True,
    encoding: str = "utf-8",
    progress: Progress = no_progress,
) -> Vectors:
    """Open a file of vectors in whatever format it is, gzipped or not.

    `limit` takes the first rows alone, `only` the rows of these words; the rest is never
    held. `encoding` is that of the words. With `strict=False` rows that do not fit are left
    out instead of refused. What was repaired or left out is reported as a `MalmoiWarning`.
    `path` may also be the name of vectors that install with a package: `glove-6b-50d`.
    """
    if isinstance(only, str):
        raise InvalidArgumentError(f"only is the one string '{only}': give a list of words")
    wanted = None if only is None else frozenset(map(nfc, only))
    request = LoadRequest(
        limit=limit, only=wanted, strict=strict, encoding=encoding, progress=progress
    )
    reading = read(path, request)
    for note in reading.report.notes():
        warnings.warn(f"{path}: {note}", MalmoiWarning, stacklevel=2)
    return reading.vectors


def read(path: PathLike, request: LoadRequest) -> LoadResult:
    """The vectors of a file with a report of what was met on the way."""
    if packaged.is_packaged(str(path)) and not Path(path).exists():
        return packaged.read(str(path), request)
    if (meant := packaged.near(str(path))) and not Path(path).exists():
        raise InvalidFileError(f"{path} does not exist; did you mean {meant}?")
    source = InputFile(Path(path))
    kind = catalogue.get_format(catalogue.recognise(source))
    reading = kind.read(source, request)
    reading.report.format = kind.TITLE
    return reading


def save(
    vectors: Vectors,
    path: PathLike,
    *,
    format: str | None = None,
    progress: Progress = no_progress,
) -> None:
    """Write vectors in the format that the file's name asks for, or in the one named.

    The file is whole or not there: it is written beside its place and renamed.
    """
    target = Path(path)
    subwords = isinstance(vectors, SubwordVectors)
    name = format or catalogue.format_for(target, subwords=subwords)
    catalogue.refuse_zipped(target, name)
    if subwords and name not in ("fasttext", "malmoi"):
        warnings.warn(
            f"{path}: {name} has no place for n-grams: unseen words will have no vector",
            MalmoiWarning,
            stacklevel=2,
        )
    if vectors.dim == 0:
        raise InvalidArgumentError(f"{path} was not written: the vectors have no numbers")
    finite = finite_rows(vectors.matrix)
    if not finite.all():
        word = vectors.keys[int(np.argmin(finite))]
        raise InvalidArgumentError(
            f"{path} was not written: the vector of '{word}' holds nan or inf"
        )
    catalogue.get_format(name).write(vectors, target, progress)
