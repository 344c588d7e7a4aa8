"""Small sets of sentences, an encoder that is a table, and where the real sets are."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from malmoi.arrays import Float32Array
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter

DATA = Path(os.environ.get("MALMOI_DATA", Path(__file__).parents[3] / "shared/data"))

CSV = """"A man, dancing.",A man dances.,5.0
A child rides.,"A ""horse"" is ridden.",3.2
A plane lands.,Prices fell.,0
"""
PAIRS = [
    ("A man, dancing.", "A man dances.", 5.0),
    ("A child rides.", 'A "horse" is ridden.', 3.2),
    ("A plane lands.", "Prices fell.", 0.0),
]


def real(name: str) -> Path:
    """A public set; without it the test is skipped."""
    path = DATA / "sts" / name
    if not path.exists():
        pytest.skip(f"{path} is not there (set MALMOI_DATA)")
    return path


class TableEncoder:
    """Knows the vectors of some texts, and how often it was asked for each."""

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self.name, self.vectors = "table", vectors
        self.dim = len(next(iter(vectors.values())))
        self.asked: list[str] = []

    def encode(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Float32Array:
        found = list(texts)
        self.asked += found
        reporter.stage("encoding", "texts")(len(found), len(found))
        return np.array([self.vectors[text] for text in found], np.float32)

    def stream(
        self, texts: Iterable[str], *, reporter: Reporter = DEFAULT_REPORTER
    ) -> Iterator[Float32Array]:
        yield self.encode(texts)
