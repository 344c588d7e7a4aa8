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
LONG = 40  # letters from which a paragraph must be Korean


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


def letters(text: str, pattern: str) -> int:
    return len(re.findall(pattern, text))


@every_page
def test_a_page_is_in_nfc(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert unicodedata.is_normalized("NFC", text)


@every_page
def test_prose_is_korean(page: Path) -> None:
    """Of a long text two letters in five are Hangul, where a syllable counts as two letters."""
    for text in prose(page):
        hangul, latin = 2 * letters(text, "[가-힣]"), letters(text, "[A-Za-z]")
        assert hangul + latin < LONG or hangul >= 0.4 * (hangul + latin), text


@every_page
def test_headings_are_korean_or_names(page: Path) -> None:
    for section in sections(page):
        names = re.fullmatch(r"[\w-]*|(?:[A-Z][\w–-]*,? ?)+", CODE.sub("", section.title))
        assert names or re.search("[가-힣]", section.title), section.title


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
