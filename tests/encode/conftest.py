"""Encoders that are opened once, and a cache of graphs that goes away."""

import os
from collections.abc import Iterator

import pytest

from malmoi.encode.encoder import ContextualEncoder, load_contextual

os.environ["HF_HUB_OFFLINE"] = "1"  # read when its library is imported


@pytest.fixture(scope="package", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MALMOI_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="package")
def minilm(cache: None) -> ContextualEncoder:
    return load_contextual("minilm")
