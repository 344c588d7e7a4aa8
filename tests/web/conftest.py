"""One Chromium for all tests of a process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from malmoi.project.page.page import write_page
from tests.web.browser import NAME, WHY_SKIPPED, Browser
from tests.web.scenes import scene_of


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if NAME is None:
        pytest.skip(WHY_SKIPPED)
    running = Browser(tmp_path_factory.mktemp("profile"))
    yield running
    running.close()


@pytest.fixture(scope="session")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a few Korean and English words."""
    path = tmp_path_factory.mktemp("pages") / "words.html"
    write_page(scene_of(), path)
    return path
