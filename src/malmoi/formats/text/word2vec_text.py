r"""word2vec's text format, also fastText's .vec: a header, then one word with its vector per line.

    rows dim\\n
    word 0.418 0.24968 … \\n

word2vec.c and fastText end a line with a space, gensim does not; both are read.
"""

from pathlib import Path

from malmoi.files.output import open_output
from malmoi.files.source import InputFile
from malmoi.formats.reading import LoadRequest, LoadResult
from malmoi.formats.text.text_lines import find_layout, read_lines
from malmoi.formats.text.text_output import check_keys, write_lines
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors

TITLE = "word2vec text"


def matches(source: InputFile) -> bool:
    """Two integers on line 1, then lines of numbers."""
    layout = find_layout(source)
    return layout is not None and layout.header is not None


def read(source: InputFile, request: LoadRequest) -> LoadResult:
    """Read all rows; the header must be correct."""
    layout = find_layout(source)
    assert layout is not None  # `matches` has checked it
    return read_lines(source, layout, request)


def write(vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
    """Write header and rows, as gensim does."""
    check_keys(vectors.keys, b" \n", TITLE)
    with open_output(path) as (file,):
        file.write(f"{len(vectors)} {vectors.dim}\n".encode())
        write_lines(vectors, file, progress)
