"""The Korean of README.ko.md and docs/ko/: whole, in NFC, with our terms and the right particles.

A test finds what is always wrong; the check list in CONTRIBUTING.md is for readers.
"""

import re
import unicodedata
from pathlib import Path

import pytest

from tests.korean_terms import TRANSLATIONESE, WRONG, wrong_particles
from tests.page_parts import CODE, sections, without_targets
from tests.pages import DOCS

PAGES = [DOCS.parent / "README.ko.md", *sorted((DOCS / "ko").glob("*.md"))]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
MANY = 5  # English words from which a sentence needs more Hangul


def texts(page: Path) -> list[str]:
    """Headings, paragraphs and cells, without the targets of links."""
    return [
        without_targets(text)
        for section in sections(page)
        for text in (section.title, *section.paragraphs, *section.cells)
    ]


def prose(page: Path) -> list[str]:
    """The same without code, paths, and titles in italics."""
    beside = re.compile(r"(?<!\*)\*[^*]+\*(?!\*)|[\w-]+/[\w./-]+")
    return [beside.sub("", CODE.sub("`", text)) for text in texts(page)]


def english(text: str) -> list[str]:
    """English words other than names: BERT and sentence-transformers are names."""
    return re.findall(r"(?<![\w-])[a-z]{2,}(?![\w-])", text)


@every_page
def test_a_page_is_in_nfc(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert unicodedata.is_normalized("NFC", text)


@every_page
def test_prose_is_korean(page: Path) -> None:
    for sentence in (one for text in prose(page) for one in re.split(r"(?<=[.?!]) ", text)):
        words = english(sentence)
        assert len(words) < MANY or len(re.findall("[가-힣]", sentence)) > len(words), sentence


@every_page
def test_headings_are_korean_or_names(page: Path) -> None:
    for section in sections(page):
        title = CODE.sub("", section.title)
        assert re.search("[가-힣]", title) or " " not in title or not english(title), title


@every_page
@pytest.mark.parametrize("table", [TRANSLATIONESE, WRONG], ids=["translationese", "terms"])
def test_no_word_of_the_lists_is_used(page: Path, table: dict[str, str]) -> None:
    found = [
        f"{match[0]} → {right}: {text}"
        for text in prose(page)
        for wrong, right in table.items()
        for match in re.finditer(wrong, text)
        if f"{right}({match[0]})" not in text  # other writers' word, behind ours
    ]
    assert found == []


@every_page
def test_particles_fit_the_sound_before_them(page: Path) -> None:
    read = (re.sub(r"[`*]", "", text) for text in texts(page))
    assert [wrong for text in read for wrong in wrong_particles(text)] == []


@pytest.mark.parametrize("right", ["BERT를", "minilm은", "URL로", "0.05를", "3은", "가을 말뭉치를"])
def test_right_particles_are_accepted(right: str) -> None:
    assert wrong_particles(right) == []


@pytest.mark.parametrize("wrong", ["BERT을", "minilm는", "URL으로", "0.05을", "3는", "벡터을"])
def test_wrong_particles_are_found(wrong: str) -> None:
    assert len(wrong_particles(wrong)) == 1
