"""The page opens from disk in a real Chromium, asks for nothing, and draws."""

from pathlib import Path

from tests.web.browser import Browser
from tests.web.scenes import ENGLISH, KOREAN


def test_opens_from_disk_without_any_other_request(browser: Browser, words: Path) -> None:
    with browser.page(words.as_uri()) as page:
        page.ready()
        assert page.requests() == [words.as_uri()]
        assert page.value("performance.getEntriesByType('resource').length") == 0
        assert page.value("document.querySelector('.view canvas').dataset.painter") == "webgl2"
        drawn = page.value("document.querySelector('.view canvas').dataset.points")
        assert int(drawn) == len(KOREAN) + len(ENGLISH)
        assert page.problems() == []
