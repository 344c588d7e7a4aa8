r"""word2vec's text, which is fastText's .vec too: a header, then a word and its numbers a line.

    rows dim\\n
    word 0.418 0.24968 … \\n

word2vec.c and fastText leave a space at the line's end, gensim does not; both are read.
"""

from pathlib import Path

from malmoi.files.output import written
from malmoi.files.source import InputFile
from malmoi.formats.reading import LoadRequest, LoadResult
from malmoi.formats.text.text_lines import find_layout, read_lines
from malmoi.formats.text.text_output import check_keys, write_lines
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors

TITLE = "word2vec text"


def matches(source: InputFile) -> bool:
    """Two whole numbers on line 1, then lines of numbers."""
    layout = find_layout(source)
    return layout is not None and layout.header is not None


def read(source: InputFile, request: LoadRequest) -> LoadResult:
    """All rows; the header must be true."""
    layout = find_layout(source)
    assert layout is not None  # as `matches` has found
    return read_lines(source, layout, request)


def write(vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
    """Header and rows, as gensim writes them."""
    check_keys(vectors.keys, b" \n", TITLE)
    with written(path) as (file,):
        file.write(f"{len(vectors)} {vectors.dim}\n".encode())
        write_lines(vectors, file, progress)
