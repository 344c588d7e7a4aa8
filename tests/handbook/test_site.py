"""The site: both languages are built, every page is in the menu, nothing is from another host."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from handbook.reference import topics
from handbook.staging import CONFIGS, ENGLISH, HERE, stage_site, staged_page

pytestmark = pytest.mark.xdist_group("site")  # one worker makes what all of them read

OUTSIDE = re.compile(r"(?:href|src|action|srcset|data)=[\"']?(?:https?:)?//[^\"'\s>]+")


def menu(config: str) -> list[str]:
    """The pages of a menu, in order."""

    def pages(entries: list[dict[str, Any]]) -> list[str]:
        values = [value for entry in entries for value in entry.values()]
        nested = [[value] if isinstance(value, str) else pages(value) for value in values]
        return [page for several in nested for page in several]

    text = (HERE / config).read_text(encoding="utf-8")
    return pages(yaml.safe_load(text)["nav"])


def test_every_page_is_in_the_menu_once() -> None:
    pages = [path.name for path in ENGLISH.glob("*.md")]
    pages += [f"api/{topic.page}.md" for topic in topics()]
    assert sorted(menu("site.en.yml")) == sorted(pages)


def test_both_languages_have_the_same_menu() -> None:
    assert menu("site.ko.yml") == menu("site.en.yml")


def test_links_of_staged_pages_stay_in_their_folder() -> None:
    page = "![cells](../elmo.svg) [news](../../CHANGELOG.md) [how](../CONTRIBUTING.md) [b](bert.md)"
    assert staged_page(page) == "![cells](elmo.svg) news how [b](bert.md)"
    for page in ("[1](../notebooks/1-words.ipynb)", "[1](../../notebooks/ko/1-words.ipynb)"):
        assert staged_page(page) == "[1](notebooks/1-words.ipynb)"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both sites, built as `make docs` builds them, elsewhere."""
    folder = tmp_path_factory.mktemp("site")
    stage_site(folder)
    for config in CONFIGS:
        command = [
            sys.executable,
            "-m",
            "zensical",
            "build",
            "--strict",
            "-f",
            str(folder / config),
        ]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def test_no_page_refers_to_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 2 * len(list(ENGLISH.glob("*.md")))
    for page in pages:
        assert OUTSIDE.findall(page.read_text(encoding="utf-8")) == [], page


def test_pages_are_of_their_language_and_link_to_the_other(site: Path) -> None:
    english = (site / "bert" / "index.html").read_text(encoding="utf-8")
    korean = (site / "ko" / "bert" / "index.html").read_text(encoding="utf-8")
    assert '<html lang="en"' in english
    assert '<html lang="ko"' in korean
    assert 'hreflang="ko"' in english
    assert 'hreflang="en"' in korean


def test_the_search_finds_korean(site: Path) -> None:
    items = json.loads((site / "ko" / "search.json").read_text(encoding="utf-8"))["items"]
    assert any("형태소" in item["text"] for item in items)


def test_images_are_there_in_both(site: Path) -> None:
    images = [path.name for path in ENGLISH.iterdir() if path.suffix in (".svg", ".png")]
    for name in images:
        assert (site / name).is_file()
        assert (site / "ko" / name).is_file()
