"""Small vectors and test sets for them, and where the real ones are."""

import os
from pathlib import Path

import numpy as np
import pytest

from malmoi.subwords import Subwords, SubwordVectors
from malmoi.vectors import Vectors

WORDS = Path(os.environ.get("MALMOI_DATA", Path(__file__).parents[3] / "shared/data")) / "words"

PAIRS = "cat\tdog\t8\ncat\ttiger\t7.5\ndog\tcar\t1\ncar\tbus\t9\ntiger\tbus\t0.5\n"
ANALOGIES = """: capitals
한국 서울 일본 도쿄
일본 도쿄 한국 서울
: gram1-plural
cat cats dog dogs
cat cats mouse mice
"""


# Judgements that the animals do not quite agree with.
DOUBTFUL = """cat	dog	9
cat	tiger	6
dog	tiger	7
cat	car	1
dog	car	5
tiger	bus	2
car	bus	8
dog	bus	0
"""


def real(name: str) -> Path:
    """A public test set; without it the test is skipped."""
    path = WORDS / name
    if not path.exists():
        pytest.skip(f"{path} is not there (set MALMOI_DATA)")
    return path


def animals() -> Vectors:
    """Two kinds of things."""
    places = {
        "cat": (1.0, 0.1, 0.0),
        "dog": (0.9, 0.3, 0.1),
        "tiger": (1.0, -0.2, 0.2),
        "car": (0.0, 1.0, 0.9),
        "bus": (0.1, 0.9, 1.0),
    }
    return Vectors(places, list(places.values()))


def pieces(kept: list[int] | None = None) -> SubwordVectors:
    """Animals that also answer by n-grams of random numbers."""
    vectors, subwords = animals(), Subwords(min_n=2, max_n=3, buckets=50)
    rows = 50 if kept is None else len(kept)
    return SubwordVectors(
        vectors.keys,
        vectors.matrix,
        word_rows=vectors.matrix,
        bucket_rows=np.random.default_rng(3).normal(size=(rows, 3)).astype(np.float32),
        subwords=subwords,
        kept_buckets=None if kept is None else np.array(kept, dtype=np.int32),
    )
