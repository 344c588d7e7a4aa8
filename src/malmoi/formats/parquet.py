"""Parquet: columns `key` (string), `vector` (list of float32) and, if known, `count`.

The `meta` of the vectors is in the file's metadata, as `malmoi` (JSON).
"""

from pathlib import Path

from malmoi.arrow_tables import COLUMNS, from_table
from malmoi.errors import InvalidFileError
from malmoi.extras import require
from malmoi.files.output import atomic_write
from malmoi.files.source import InputFile
from malmoi.formats.reading import LoadRequest, LoadResult, select_rows
from malmoi.keys import Keys
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.vectors import Vectors

TITLE = "Parquet"
MAGIC = b"PAR1"


def matches(source: InputFile) -> bool:
    """Parquet's magic bytes, at both ends."""
    return source.head.startswith(MAGIC) and bytes(source.mapped[-4:]) == MAGIC


def read(source: InputFile, request: LoadRequest) -> LoadResult:
    """Read the three columns."""
    if source.compressed:
        raise InvalidFileError(f"{source.path} is compressed with gzip: decompress it")
    arrow = require("pyarrow", extra="parquet")
    parquet = require("pyarrow.parquet", extra="parquet")
    try:
        with parquet.ParquetFile(source.path) as file:
            names = file.schema_arrow.names
            is_complete = {"key", "vector"} <= {*names}  # if not, the table need not be read
            chosen = [name for name in COLUMNS if name in names]
            table = file.read(columns=chosen) if is_complete else file.schema_arrow.empty_table()
        columns = from_table(table, where="it")
        keys = Keys.of(columns.pop("keys"))
        vectors = Vectors(keys, **columns)
    except (arrow.ArrowException, OSError, AttributeError, ValueError, TypeError) as error:
        raise InvalidFileError(
            f"{source.path} is damaged or does not hold vectors: {error}"
        ) from error
    return select_rows(vectors, request, lambda i: f"{source.path}: row {i + 1:,}")


def write(vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
    """Write three columns, with the vectors as lists of fixed size."""
    parquet = require("pyarrow.parquet", extra="parquet")
    table = vectors.to_arrow()
    with atomic_write(path) as (part,):
        parquet.write_table(table, part)
