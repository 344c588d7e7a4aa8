"""A cache of graphs that goes away."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MALMOI_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
