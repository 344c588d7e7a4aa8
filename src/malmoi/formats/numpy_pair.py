"""A NumPy array and a list of words: `name.npy`, float32 [n, dim], and `name.vocab.txt`.

One word a line. They are also looked for in `name.txt` and in `vocab.txt` beside the array.
"""

from pathlib import Path
from tokenize import TokenError

import numpy as np

from malmoi.errors import InvalidFileError
from malmoi.files.output import written
from malmoi.files.source import GZIP, InputFile
from malmoi.formats.reading import LoadRequest, LoadResult, recoded, selected
from malmoi.formats.text.text_output import check_keys
from malmoi.keys import Keys, encode
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors

TITLE = "NumPy array and word list"
# All that NumPy lets through when the header, a Python literal, is damaged.
DAMAGE = (ValueError, TypeError, EOFError, OSError, SyntaxError, TokenError, OverflowError,
          MemoryError, RecursionError)  # fmt: skip


def matches(source: InputFile) -> bool:
    """NumPy's magic bytes."""
    return source.head.startswith(b"\x93NUMPY")


def read(source: InputFile, request: LoadRequest) -> LoadResult:
    """The array, memory-mapped where it is float32 already, and its words."""
    if source.compressed:
        raise InvalidFileError(f"{source.path} is zipped; gunzip it: an array is opened in place")
    try:
        array = np.load(source.path, mmap_mode="r", allow_pickle=False)
    except DAMAGE as error:
        raise InvalidFileError(
            f"{source.path} is a damaged array or one of Python objects: {error}"
        ) from error
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise InvalidFileError(
            f"{source.path} holds {array.dtype} of shape {array.shape}: rows of numbers are needed"
        )
    words = word_list(source.path)
    keys = Keys.of_bytes(read_words(words))
    if len(keys) != len(array):
        raise InvalidFileError(
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
    raise InvalidFileError(
        f"{path} has no words: put them into {places[0].name} beside it, one a line"
    )


def own_words(path: Path) -> Path:
    """Where the words go when the array goes to `path`."""
    return path.with_suffix(".vocab.txt")


def read_words(path: Path) -> list[bytes]:
    """One word a line."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidFileError(f"{path} cannot be read: {error.strerror or error}") from error
    if content.startswith(GZIP):
        content = b"".join(block.tobytes() for block, _ in InputFile(path).blocks())
    lines = content.removesuffix(b"\n").split(b"\n") if content else []
    return [line.removesuffix(b"\r") for line in lines]


def write(vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
    """Array and words, both or none."""
    check_keys(vectors.keys, b"\n\r", TITLE)
    with written(path, own_words(path)) as (numbers, words):
        np.save(numbers, vectors.matrix, allow_pickle=False)
        words.writelines(encode(word) + b"\n" for word in vectors.keys)
