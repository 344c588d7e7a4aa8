"""Drawings: the files are what the code draws, in both languages, and no text leaves its canvas."""

import re
from xml.etree import ElementTree

import pytest

from handbook.drawings.gallery import DOCS, DRAWINGS, LANGUAGES, drawing, path_of
from malmoi.plots.svg import text_width

HANGUL = re.compile("[가-힣]")
every_drawing = pytest.mark.parametrize("name", DRAWINGS)
every_language = pytest.mark.parametrize("language", LANGUAGES)


@every_language
@every_drawing
def test_files_are_up_to_date(name: str, language: str) -> None:
    """`python -m handbook.drawings` writes them."""
    assert path_of(name, language).read_text(encoding="utf-8") == drawing(name, language).svg()


@every_language
@every_drawing
def test_texts_stay_on_their_canvas(name: str, language: str) -> None:
    canvas = drawing(name, language)
    for x, y, text, style in canvas.texts:
        width = text_width(text) * (1 if "note" in style or "small" in style else 15 / 12)
        left = x if "start" in style else x - width if "end" in style else x - width / 2
        assert left >= 0, text
        assert left + width <= canvas.width, text
        assert 8 <= y <= canvas.height - 8, text


@every_drawing
def test_titles_are_of_their_language(name: str) -> None:
    assert not HANGUL.search(drawing(name, "en").title) or name == "fasttext-jamo"
    assert HANGUL.search(drawing(name, "ko").title)


@every_drawing
def test_files_are_valid_and_follow_the_dark_mode(name: str) -> None:
    svg = drawing(name, "ko").svg()
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert "prefers-color-scheme: dark" in svg


@every_drawing
def test_every_drawing_is_on_a_page(name: str) -> None:
    assert any(f"({name}.svg)" in page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
