"""The TensorFlow projector's two files, tab-separated: vectors in one, words in the other.

`name_tensor.tsv` has one vector per line, `name_metadata.tsv` one word per line; with a second
column (`count`) it also has a header line, with one column it must not.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from malmoi.errors import InvalidFileError
from malmoi.files.output import open_output
from malmoi.files.source import InputFile
from malmoi.formats.numpy_pair import read_words
from malmoi.formats.reading import LoadRequest, LoadResult, decode_keys
from malmoi.formats.text.text_lines import find_layout, line_blocks, read_lines
from malmoi.formats.text.text_output import check_keys, check_rows, write_lines
from malmoi.keys import Keys, encode
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors

MAX_COUNT_DIGITS = 18  # so that a count fits into 64 bits
TITLE = "projector TSV"


def matches(source: InputFile) -> bool:
    """Tab-separated numbers and nothing else."""
    layout = find_layout(source)
    return layout is not None and not layout.keyed


def read(source: InputFile, request: LoadRequest) -> LoadResult:
    """Read vectors and words from the two files."""
    layout = find_layout(source)
    assert layout is not None  # `matches` has checked it
    metadata_path = find_metadata(source.path)
    lines = [line.split(b"\t") for line in read_words(metadata_path)]
    rows = sum(len(starts) for _, starts, _, _ in line_blocks(source, 0, 1))
    if len(lines) == rows + 1:
        lines = lines[1:]  # skips a header
    if len(lines) != rows:
        raise InvalidFileError(
            f"{metadata_path} has {len(lines):,} words for the {rows:,} rows of {source.path}"
        )
    keys = Keys.of_bytes([line[0] for line in lines])
    result = read_lines(source, layout, request, keys)
    counts = [int(line[1]) for line in lines if len(line) == 2 and is_count(line[1])]
    if len(counts) < rows:
        return result
    lines_of_rows = decode_keys(keys, request.encoding).find_all(result.vectors.keys)
    return replace(result, vectors=replace(result.vectors, counts=np.array(counts)[lines_of_rows]))


def is_count(text: bytes) -> bool:
    """Whether a field is a count that 64 bits hold."""
    return text.isdigit() and len(text) <= MAX_COUNT_DIGITS


def find_metadata(path: Path) -> Path:
    """The file with the words of a file of vectors."""
    names = [
        path.name.replace("tensor", "metadata"),
        own_metadata(path).name,
        "metadata.tsv",
        "meta.tsv",
    ]
    for candidate in (path.with_name(name) for name in names):
        if candidate != path and candidate.is_file():
            return candidate
    raise InvalidFileError(
        f"{path} has no words: put them into {own_metadata(path).name} beside it, one per line"
    )


def own_metadata(path: Path) -> Path:
    """The path of the words of vectors that are written to `path`."""
    if "tensor" in path.name:
        return path.with_name(path.name.replace("tensor", "metadata"))
    return path.with_name(f"{path.stem}_metadata.tsv")


def write(vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
    """Write vectors and words, both or neither."""
    check_keys(vectors.keys, b"\t\n\r", TITLE)
    check_rows(vectors, TITLE)
    with open_output(path, own_metadata(path)) as (numbers, words):
        write_lines(vectors, numbers, progress, separator=b"\t", keyed=False)
        encoded = map(encode, vectors.keys)
        if vectors.counts is None:
            words.writelines(word + b"\n" for word in encoded)
        else:
            words.write(b"word\tcount\n")
            counts = vectors.counts.tolist()
            words.writelines(b"%b\t%d\n" % pair for pair in zip(encoded, counts, strict=True))
