"""A NumPy array and a list of words: `name.npy`, float32 [n, dim], and `name.vocab.txt`.

One word per line. `name.txt` and `vocab.txt` beside the array are tried too.
"""

from pathlib import Path
from tokenize import TokenError

import numpy as np

from malmoi.errors import InvalidFileError
from malmoi.files.output import open_output
from malmoi.files.source import GZIP, InputFile
from malmoi.formats.reading import LoadRequest, LoadResult, decode_keys, select_rows
from malmoi.formats.text.text_output import check_keys
from malmoi.keys import Keys, encode
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors

TITLE = "NumPy array and word list"
# The exceptions that NumPy raises if the header, a Python literal, is damaged.
PARSE_ERRORS = (ValueError, TypeError, EOFError, OSError, SyntaxError, TokenError, OverflowError,
                MemoryError, RecursionError)  # fmt: skip


def matches(source: InputFile) -> bool:
    """NumPy's magic bytes."""
    return source.head.startswith(b"\x93NUMPY")


def read(source: InputFile, request: LoadRequest) -> LoadResult:
    """Map the array (float32 is not copied) and read its words."""
    if source.compressed:
        raise InvalidFileError(
            f"{source.path} is compressed but must be memory-mapped: decompress it"
        )
    try:
        array = np.load(source.path, mmap_mode="r", allow_pickle=False)
    except PARSE_ERRORS as error:
        raise InvalidFileError(
            f"{source.path} is a damaged array, or one of Python objects: {error}"
        ) from error
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise InvalidFileError(
            f"{source.path} holds {array.dtype} of shape {array.shape}: give numbers of [n, dim]"
        )
    vocab_path = find_words(source.path)
    keys = Keys.of_bytes(read_words(vocab_path))
    if len(keys) != len(array):
        raise InvalidFileError(
            f"{vocab_path} has {len(keys):,} words for the {len(array):,} rows of {source.path}"
        )
    vectors = Vectors(decode_keys(keys, request.encoding), array.view(np.ndarray))
    result = select_rows(vectors, request, lambda i: f"{source.path}: row {i + 1:,}")
    result.report.numbers = str(array.dtype)
    return result


def find_words(path: Path) -> Path:
    """The file with the words of an array."""
    candidates = [words_path(path), path.with_suffix(".txt"), path.with_name("vocab.txt")]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise InvalidFileError(
        f"{path} has no words: put them into {candidates[0].name} beside it, one per line"
    )


def words_path(path: Path) -> Path:
    """The path of the words of an array that is written to `path`."""
    return path.with_suffix(".vocab.txt")


def read_words(path: Path) -> list[bytes]:
    """Read one word per line."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidFileError(f"{path} cannot be read: {error.strerror or error}") from error
    if content.startswith(GZIP):
        content = b"".join(block.tobytes() for block, _ in InputFile(path).blocks())
    lines = content.removesuffix(b"\n").split(b"\n") if content else []
    return [line.removesuffix(b"\r") for line in lines]


def write(vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
    """Write array and words, both or neither."""
    check_keys(vectors.keys, b"\n\r", TITLE)
    with open_output(path, words_path(path)) as (numbers, words):
        np.save(numbers, vectors.matrix, allow_pickle=False)
        words.writelines(encode(word) + b"\n" for word in vectors.keys)
