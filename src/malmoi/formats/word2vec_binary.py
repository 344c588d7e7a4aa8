r"""word2vec's binary: a text header, then for each word its bytes, a space and its floats.

    rows dim\n
    word 0x20 float32[dim] (\n)

All little-endian. word2vec.c ends a row with a newline, gensim does not; both are read.
word2vec.c truncates words to 100 bytes, even in the middle of a character.
"""

from pathlib import Path

import numpy as np

from malmoi.arrays import UInt8Array
from malmoi.errors import InvalidFileError
from malmoi.files.output import open_output
from malmoi.files.source import InputFile
from malmoi.formats.reading import MAX_KEY_BYTES, LoadRequest, LoadResult
from malmoi.formats.row_gatherer import RowGatherer
from malmoi.formats.text.text_lines import find_layout, parse_header
from malmoi.formats.text.text_output import check_keys
from malmoi.kernels.parsing.binary_rows import scan_word2vec
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors

TITLE = "word2vec binary"


def matches(source: InputFile) -> bool:
    """A header line of two integers, and no lines of numbers after it."""
    header = parse_header(source.head.split(b"\n", 1)[0])
    return header is not None and header[1] > 0 and find_layout(source) is None


def read(source: InputFile, request: LoadRequest) -> LoadResult:
    """Read all rows; the header must be correct."""
    line = source.head.split(b"\n", 1)[0]
    header = parse_header(line)
    assert header is not None  # `matches` has checked it
    rows, dim = header
    min_bytes = rows * (4 * dim + 1)
    if request.strict and not source.compressed and min_bytes > source.size - len(line):
        raise InvalidFileError(
            f"{source.path}: the header announces {rows:,} rows of {dim:,} floats, which do"
            f" not fit into {source.size:,} bytes: the file is truncated or the header wrong"
        )
    gatherer = RowGatherer(source, request, dim)
    if not source.compressed:  # otherwise the header has not been checked
        gatherer.expect(min(rows, source.size // (4 * dim + 1)))
    rest: UInt8Array = np.empty(0, dtype=np.uint8)
    for block, done in source.blocks(len(line) + 1):
        if not gatherer.is_done and gatherer.report.rows < rows:
            rest = parse_block(gatherer, np.concatenate([rest, block]), rows)
        elif gatherer.is_done:
            return gatherer.finish()
        else:
            rest = np.concatenate([rest, block])
        request.progress(done, source.size)
    return finish(gatherer, rows, rest, source)


def parse_block(gatherer: RowGatherer, text: UInt8Array, rows: int) -> UInt8Array:
    """Pass the complete rows of a block to the gatherer; returns the remaining bytes."""
    width = 4 * gatherer.dim
    max_rows = min(len(text) // (width + 1), rows - gatherer.report.rows)
    starts, stops = np.empty(max_rows, np.int64), np.empty(max_rows, np.int64)
    floats = gatherer.reserve(max_rows).view(np.uint8).reshape(max_rows, width)
    count, end = scan_word2vec(text, width, floats, starts, stops, MAX_KEY_BYTES)
    first = gatherer.report.rows + 1
    if count < 0:
        raise InvalidFileError(
            f"{gatherer.path}: row {first - count - 1:,} has no word: not a {TITLE} file"
        )
    gatherer.add(
        text, starts[:count], stops[:count], lambda i: f"{gatherer.path}: row {first + i:,}"
    )
    return text[end:]


def finish(gatherer: RowGatherer, rows: int, rest: UInt8Array, source: InputFile) -> LoadResult:
    """The rows, if there are as many as the header announces and nothing after them."""
    count = gatherer.report.rows
    problem = ""
    if count < rows and not gatherer.is_done:
        problem = f"the file ends in row {count + 1:,} of {rows:,}: it is truncated"
    elif count == rows and bytes(rest).strip(b"\n"):
        problem = f"{len(rest):,} bytes follow after the {rows:,} rows that the header announces"
    if problem:
        gatherer.report_problem(f"{source.path}: {problem}")
    return gatherer.finish()


def write(vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
    """Write header and rows, as word2vec.c does."""
    check_keys(vectors.keys, b" \n", TITLE)
    with open_output(path) as (file,):
        file.write(f"{len(vectors)} {vectors.dim}\n".encode())
        for row, vector in enumerate(vectors.matrix):
            file.write(vectors.keys.bytes_at(row) + b" " + vector.tobytes() + b"\n")
            if row % 65536 == 0:
                progress(row, len(vectors))
    progress(len(vectors), len(vectors))
