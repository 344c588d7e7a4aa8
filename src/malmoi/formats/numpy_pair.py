"""A NumPy array and a list of words: `name.npy`, float32 [n, dim], and `name.vocab.txt`.

One word a line. They are also looked for in `name.txt` and in `vocab.txt` beside the array.
"""

from pathlib import Path

import numpy as np

from malmoi.errors import BadFile
from malmoi.formats.output import beside, written
from malmoi.formats.reading import Progress, Reading, Request, recoded, selected, silent
from malmoi.formats.source import Source
from malmoi.formats.text_output import check_keys
from malmoi.keys import Keys
from malmoi.vectors import Vectors

TITLE = "NumPy array and word list"


def matches(source: Source) -> bool:
    """NumPy's magic bytes."""
    return source.head.startswith(b"\x93NUMPY")


def read(source: Source, request: Request) -> Reading:
    """The array, memory-mapped where it is float32 already, and its words."""
    if source.compressed:
        raise BadFile(f"{source.path} is zipped; gunzip it: an array is opened in place")
    try:
        array = np.load(source.path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, OverflowError, MemoryError) as error:
        raise BadFile(
            f"{source.path} is a damaged array or one of Python objects: {error}"
        ) from error
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise BadFile(
            f"{source.path} holds {array.dtype} of shape {array.shape}: rows of numbers are needed"
        )
    words = word_list(source.path)
    keys = Keys.of_bytes(read_words(words))
    if len(keys) != len(array):
        raise BadFile(
            f"{words} has {len(keys):,} words for the {len(array):,} rows of {source.path}"
        )
    vectors = Vectors(recoded(keys, request.encoding), array.view(np.ndarray))
    reading = selected(vectors, request, lambda i: f"{source.path}: row {i + 1:,}")
    reading.report.numbers = str(array.dtype)
    return reading


def word_list(path: Path) -> Path:
    """The file with the words of an array."""
    places = [own_words(path), path.with_suffix(".txt"), path.with_name("vocab.txt")]
    for place in places:
        if place.is_file():
            return place
    raise BadFile(f"{path} has no words: put them into {places[0].name} beside it, one a line")


def own_words(path: Path) -> Path:
    """Where the words go when the array goes to `path`."""
    return path.with_suffix(".vocab.txt")


def read_words(path: Path) -> list[bytes]:
    """One word a line."""
    lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
    return [line.removesuffix(b"\r") for line in lines]


def write(vectors: Vectors, path: Path, progress: Progress = silent) -> None:
    """Array and words; the array last, so that it never stands without them."""
    check_keys(vectors.keys, b"\n\r", TITLE)
    with beside(path) as part:
        with part.open("wb") as file:
            np.save(file, vectors.matrix, allow_pickle=False)
        with written(own_words(path)) as file:
            file.writelines(
                word.encode("utf-8", "surrogateescape") + b"\n" for word in vectors.keys
            )
