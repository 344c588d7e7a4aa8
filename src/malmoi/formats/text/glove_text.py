"""GloVe's text: a word and its numbers a line, no header.

A word may hold spaces and no-break spaces. The row `<unk>`, where there is one, stands for
all words without a row.
"""

from pathlib import Path

from malmoi.files.output import open_output
from malmoi.files.source import InputFile
from malmoi.formats.reading import LoadRequest, LoadResult
from malmoi.formats.text.text_lines import find_layout, read_lines
from malmoi.formats.text.text_output import check_keys, check_numeric_ends, check_rows, write_lines
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors

TITLE = "GloVe text"


def matches(source: InputFile) -> bool:
    """Lines that end in the same number of numbers."""
    layout = find_layout(source)
    return layout is not None and layout.header is None and layout.keyed


def read(source: InputFile, request: LoadRequest) -> LoadResult:
    """Read all rows."""
    layout = find_layout(source)
    assert layout is not None  # `matches` has checked it
    return read_lines(source, layout, request)


def write(vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
    """Write the rows, without a header."""
    check_keys(vectors.keys, b"\n", TITLE)
    check_numeric_ends(vectors.keys, TITLE)
    check_rows(vectors, TITLE)
    with open_output(path) as (file,):
        write_lines(vectors, file, progress)
