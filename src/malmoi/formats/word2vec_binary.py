r"""word2vec's binary: a text header, then for each word its bytes, a space and its floats.

    rows dim\n
    word 0x20 float32[dim] (\n)

All little-endian. word2vec.c ends a row with a newline, gensim does not; both are read.
word2vec.c cuts words at 100 bytes, in the middle of a character if need be.
"""

from pathlib import Path

import numpy as np

from malmoi.arrays import UInt8Array
from malmoi.errors import InvalidFileError
from malmoi.files.output import written
from malmoi.files.source import InputFile
from malmoi.formats.reading import LONGEST_KEY, LoadRequest, LoadResult
from malmoi.formats.row_gatherer import Gatherer
from malmoi.formats.text.text_lines import find_layout, parse_header
from malmoi.formats.text.text_output import check_keys
from malmoi.kernels.parsing.binary_rows import scan_word2vec
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors

TITLE = "word2vec binary"


def matches(source: InputFile) -> bool:
    """A header line of two whole numbers, and no lines of numbers after it."""
    header = parse_header(source.head.split(b"\n", 1)[0])
    return header is not None and header[1] > 0 and find_layout(source) is None


def read(source: InputFile, request: LoadRequest) -> LoadResult:
    """All rows; the header must be true."""
    line = source.head.split(b"\n", 1)[0]
    header = parse_header(line)
    assert header is not None  # as `matches` has found
    rows, dim = header
    least = rows * (4 * dim + 1)
    if request.strict and not source.compressed and least > source.size - len(line):
        raise InvalidFileError(
            f"{source.path}: the header promises {rows:,} rows of {dim:,} floats, which cannot be"
            f" in {source.size:,} bytes: the file is cut short or the header wrong"
        )
    gatherer = Gatherer(source, request, dim)
    if not source.compressed:  # else nobody has checked what the header says
        gatherer.expect(min(rows, source.size // (4 * dim + 1)))
    rest: UInt8Array = np.empty(0, dtype=np.uint8)
    for block, done in source.blocks(len(line) + 1):
        if not gatherer.is_done and gatherer.report.rows < rows:
            rest = take_rows(gatherer, np.concatenate([rest, block]), rows)
        elif gatherer.is_done:
            return gatherer.finish()
        else:
            rest = np.concatenate([rest, block])
        request.progress(done, source.size)
    return finished(gatherer, rows, rest, source)


def take_rows(gatherer: Gatherer, text: UInt8Array, rows: int) -> UInt8Array:
    """The whole rows of a block into the gatherer; returns the bytes left over."""
    width = 4 * gatherer.dim
    most = min(len(text) // (width + 1), rows - gatherer.report.rows)
    starts, stops = np.empty(most, np.int64), np.empty(most, np.int64)
    floats = gatherer.room(most).view(np.uint8).reshape(most, width)
    found, end = scan_word2vec(text, width, floats, starts, stops, LONGEST_KEY)
    first = gatherer.report.rows + 1
    if found < 0:
        raise InvalidFileError(
            f"{gatherer.path}: row {first - found - 1:,} has no word: no {TITLE} file"
        )
    gatherer.add(
        text, starts[:found], stops[:found], lambda i: f"{gatherer.path}: row {first + i:,}"
    )
    return text[end:]


def finished(gatherer: Gatherer, rows: int, rest: UInt8Array, source: InputFile) -> LoadResult:
    """The rows, if there were as many as promised and nothing after them."""
    met = gatherer.report.rows
    problem = ""
    if met < rows and not gatherer.is_done:
        problem = f"the file ends in row {met + 1:,} of {rows:,}: it is cut short"
    elif met == rows and bytes(rest).strip(b"\n"):
        problem = f"{len(rest):,} bytes follow after the {rows:,} rows that the header promises"
    if problem:
        gatherer.remark(f"{source.path}: {problem}")
    return gatherer.finish()


def write(vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
    """Header and rows, as word2vec.c writes them."""
    check_keys(vectors.keys, b" \n", TITLE)
    with written(path) as (file,):
        file.write(f"{len(vectors)} {vectors.dim}\n".encode())
        for row, numbers in enumerate(vectors.matrix):
            file.write(vectors.keys.bytes_at(row) + b" " + numbers.tobytes() + b"\n")
            if row % 65536 == 0:
                progress(row, len(vectors))
    progress(len(vectors), len(vectors))
