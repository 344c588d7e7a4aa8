"""Parquet: columns `key` (string), `vector` (list of float32) and, if known, `count`.

The `meta` of the vectors is in the file's metadata, as `malmoi` (JSON).
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.extras import require
from malmoi.files.output import atomic_write
from malmoi.files.source import InputFile
from malmoi.formats.reading import LoadRequest, LoadResult, select_rows, undecodable_rows
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
            missing = {"key", "vector"} - set(names)
            if missing:
                raise InvalidFileError(
                    f"{source.path} has no column '{min(missing)}' (it has {', '.join(names)}):"
                    " put the words into 'key' and the vectors into 'vector'"
                )
            columns = [name for name in ("key", "vector", "count") if name in names]
            table = file.read(columns=columns).combine_chunks()
            meta = (file.schema_arrow.metadata or {}).get(b"malmoi", b"{}")
        vectors = Vectors(
            Keys.of(table["key"].to_pylist()),
            as_rows(table["vector"], source.path),
            as_counts(table["count"], source.path) if "count" in columns else None,
            json.loads(meta),
        )
    except (arrow.ArrowException, OSError, AttributeError, ValueError, TypeError) as error:
        raise InvalidFileError(
            f"{source.path} is damaged or does not hold vectors: {error}"
        ) from error
    return select_rows(vectors, request, lambda i: f"{source.path}: row {i + 1:,}")


def as_counts(column: Any, path: Path) -> Int64Array:
    """Convert a column of integers."""
    if column.null_count:
        raise InvalidFileError(f"{path} has rows without a number in its column 'count'")
    return np.asarray(column, dtype=np.int64)


def as_rows(column: Any, path: Path) -> Float32Array:
    """Convert a column of lists to one matrix."""
    compute = require("pyarrow.compute", extra="parquet")
    widths = compute.min_max(compute.list_value_length(column)).as_py()
    if column.null_count or widths["min"] != widths["max"]:
        raise InvalidFileError(f"{path} has rows of different width in its column 'vector'")
    dim = widths["min"] if len(column) else getattr(column.type, "list_size", 0)
    with np.errstate(over="ignore"):
        numbers = np.asarray(column.combine_chunks().flatten(), dtype=np.float32)
    return numbers.reshape(len(column), dim)


def write(vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
    """Write three columns, with the vectors as lists of fixed size."""
    arrow = require("pyarrow", extra="parquet")
    parquet = require("pyarrow.parquet", extra="parquet")
    rows = undecodable_rows(vectors.keys)
    if len(rows):
        key = vectors.keys[int(rows[0])]
        raise InvalidArgumentError(f"{TITLE} cannot hold the key {key!r}, which is not UTF-8")
    flat = arrow.array(vectors.matrix.reshape(-1))
    columns = {
        "key": arrow.array(list(vectors.keys), arrow.string()),
        "vector": arrow.FixedSizeListArray.from_arrays(flat, vectors.dim),
    }
    if vectors.counts is not None:
        columns["count"] = arrow.array(vectors.counts)
    metadata = {"malmoi": json.dumps(dict(vectors.meta)), "dim": str(vectors.dim)}
    with atomic_write(path) as (part,):
        parquet.write_table(arrow.table(columns).replace_schema_metadata(metadata), part)
