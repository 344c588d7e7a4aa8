"""Arrow tables of words and vectors, which pandas, Polars and DuckDB read, and the way back.

Columns are `key` (string), `vector` (list of float32) and, if known, `count`. Knows nothing of
`Vectors` or files.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from malmoi.arguments import described
from malmoi.arrays import Float32Array, Int64Array
from malmoi.errors import InvalidArgumentError
from malmoi.extras import require

COLUMNS = ("key", "vector", "count")


def as_table(
    keys: Iterable[str],
    matrix: Float32Array,
    counts: Int64Array | None = None,
    meta: Mapping[str, str] | None = None,
) -> Any:
    """A table with one row per word; the numbers are not copied, `meta` is in its metadata."""
    arrow = require("pyarrow", extra="parquet")
    try:
        words = arrow.array(list(keys), arrow.string())
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(
            f"Arrow and Parquet cannot hold the key {error.object!r}, which is not UTF-8"
        ) from error
    numbers = arrow.array(matrix.reshape(-1))
    columns = {
        "key": words,
        "vector": arrow.FixedSizeListArray.from_arrays(numbers, matrix.shape[1]),
    }
    if counts is not None:
        columns["count"] = arrow.array(counts)
    metadata = {"malmoi": json.dumps(dict(meta or {})), "dim": str(matrix.shape[1])}
    return arrow.table(columns).replace_schema_metadata(metadata)


def from_table(
    source: object, key: str = "key", vector: str = "vector", *, where: str = "the table"
) -> dict[str, Any]:
    """The keys, matrix, counts and meta of a table of Arrow, pandas, Polars or DuckDB.

    Raises `InvalidArgumentError` for anything else; `where` names the table in its message.
    """
    arrow = require("pyarrow", extra="parquet")
    if not hasattr(source, "__arrow_c_stream__"):
        raise InvalidArgumentError(
            f"{where} must be a table of Arrow, pandas, Polars or DuckDB, not {described(source)}"
        )
    table = arrow.table(source)
    missing = [name for name in (key, vector) if name not in table.column_names]
    if missing:
        raise InvalidArgumentError(
            f"{where} has no column '{missing[0]}' (it has {', '.join(table.column_names)}):"
            " put the words into 'key' and the vectors into 'vector'"
        )
    table = table.combine_chunks()
    meta = (table.schema.metadata or {}).get(b"malmoi", b"{}")
    return {
        "keys": table[key].to_pylist(),
        "matrix": as_rows(table[vector], where),
        "counts": as_counts(table["count"], where) if "count" in table.column_names else None,
        "meta": json.loads(meta),
    }


def as_counts(column: Any, where: str) -> Int64Array:
    """Convert a column of integers."""
    if column.null_count:
        raise InvalidArgumentError(f"{where} has rows without a number in its column 'count'")
    return np.asarray(column, dtype=np.int64)


def as_rows(column: Any, where: str) -> Float32Array:
    """Convert a column of lists to one matrix."""
    compute = require("pyarrow.compute", extra="parquet")
    widths = compute.min_max(compute.list_value_length(column)).as_py()
    if column.null_count or widths["min"] != widths["max"]:
        raise InvalidArgumentError(f"{where} has rows of different width in its column 'vector'")
    dim = widths["min"] if len(column) else getattr(column.type, "list_size", 0)
    with np.errstate(over="ignore"):
        numbers = np.asarray(column.combine_chunks().flatten(), dtype=np.float32)
    return numbers.reshape(len(column), dim)
