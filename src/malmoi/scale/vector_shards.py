"""VectorShards: a folder of shards of vectors, opened to read them one after the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from malmoi.arguments import expect_path
from malmoi.arrays import Float32Array
from malmoi.errors import InvalidFileError
from malmoi.extras import require
from malmoi.scale.manifest import NAME, Manifest, read_manifest
from malmoi.table import HEAD, Table, Tabular
from malmoi.text.readers import open_parquet

BATCH_ROWS = 8192


@dataclass(frozen=True, eq=False, repr=False)
class VectorShards(Tabular):
    """The shards of a folder, in the order of their names; `len` is the number of rows."""

    folder: Path
    manifest: Manifest

    @property
    def files(self) -> list[Path]:
        """The Parquet files."""
        return [self.folder / name for name in sorted(self.manifest.shards)]

    @property
    def dim(self) -> int:
        """The dimension of the vectors."""
        return self.manifest.model.dim

    @property
    def model(self) -> str:
        """The name of the model, for `load_encoder`."""
        return self.manifest.model.name

    def batches(self) -> Iterator[tuple[list[str], Float32Array]]:
        """Iterate over all rows: the locations of some texts, and their vectors [texts, dim]."""
        for path in self.files:
            with open_parquet(path) as file:
                for batch in file.iter_batches(BATCH_ROWS, columns=["location", "vector"]):
                    flat = batch.column("vector").flatten().to_numpy(zero_copy_only=False)
                    vectors = np.asarray(flat, np.float32).reshape(-1, self.dim)
                    yield batch.column("location").to_pylist(), vectors

    def dataset(self) -> Any:
        """The shards as a `pyarrow.dataset.Dataset`, which Polars and DuckDB scan without loading.

        Returns:
            The dataset, with the columns of the shards.
        """
        require("pyarrow", extra="parquet")
        return require("pyarrow.dataset", extra="parquet").dataset([str(one) for one in self.files])

    def __len__(self) -> int:
        return self.manifest.rows

    def __repr__(self) -> str:
        return f"VectorShards({len(self):,} × {self.dim} in {len(self.files):,} shards)"

    def _table(self) -> Table:
        title = f"{self.folder}: {len(self):,} × {self.dim}, by {self.model}"
        shards = [(name, self.manifest.shards[name]) for name in sorted(self.manifest.shards)]
        rows = [(name, one.rows, one.source) for name, one in shards[:HEAD]]
        return Table(title, ["shard", "rows", "of"], rows, len(shards))


def open_vectors(folder: str | PathLike[str]) -> VectorShards:
    """Open a folder that `embed` wrote.

    Args:
        folder: The folder.

    Returns:
        Its shards; nothing but the manifest is read yet.

    Raises:
        InvalidFileError: There is no manifest, or it is damaged.
    """
    path = expect_path(folder, "folder")
    manifest = read_manifest(path)
    if manifest is None:
        raise InvalidFileError(f"{path} is not a folder of vectors: it has no {NAME}")
    return VectorShards(path, manifest)
