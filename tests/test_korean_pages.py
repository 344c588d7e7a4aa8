"""Each page in English has its page in Korean, and neither falls behind the other.

Compared are headings, code, tables, figures, links, and the names and options in the text. Code
blocks differ in comments of prose alone, so that the tests that execute the English pages (such as
tests/test_pages.py and tests/test_readme.py) execute the Korean ones too: the code is the same, and
so are the answers that those tests check. What a comment is follows from where it stands: behind
`print(…)` or a `malmoi` command it is an answer, and elsewhere if it looks like a value
('queen', 0.80…, (1, 384), Neighbour(…), True); all others are prose and may be in Korean.

Run the pages of one name with `-k "[index]"`.
"""

import re
from pathlib import Path

import pytest

from tests.page_parts import Section, code_spans, figures, links, sections, slugs, without_targets
from tests.pages import DOCS

ROOT = DOCS.parent
NOTEBOOKS = ROOT / "notebooks"
TWINS = {ROOT / "README.md": ROOT / "README.ko.md"} | {
    page: DOCS / "ko" / page.name for page in sorted(DOCS.glob("*.md"))
}
ONLY_KOREAN = {"glossary": 1}  # tables at the end of a page that only Korean readers need
RUN = ("python", "py", "sh")  # the languages of blocks whose comments may be translated
COMMENT = re.compile(r"(?:^|(?<=  ))# .*$")
ANSWER = re.compile(r"['\"([{…]|\w+\(|(?:True|False|None)$|-?\d")
EXPLAINED = re.compile(r"-?[\d.…]+: ")  # an answer with prose behind it: `4: tea is its fourth …`
HANGUL = re.compile(r"[가-힣]")

every_page = pytest.mark.parametrize("page", TWINS, ids=lambda page: page.stem)


def pairs(page: Path) -> list[tuple[Section, Section]]:
    """The sections of a page with those of its Korean page."""
    english, korean = sections(page), sections(korean_page(page))
    assert len(english) == len(korean), "headings differ"
    return list(zip(english, korean, strict=True))


def korean_page(page: Path) -> Path:
    assert TWINS[page].exists(), f"{TWINS[page].relative_to(ROOT)} is missing"
    return TWINS[page]


def is_answer(code: str, comment: str) -> bool:
    return bool(ANSWER.match(comment)) or code.lstrip().startswith(("print(", "malmoi "))


def same_line(line: str, korean: str) -> bool:
    """A line is the same, or only its comment of prose is in Korean."""
    code, comment = COMMENT.sub("", line), (COMMENT.findall(line) or [""])[0].removeprefix("# ")
    if line == korean or not comment or not HANGUL.search(korean):
        return line == korean
    kept = EXPLAINED.match(comment)
    if is_answer(code, comment) and not kept:
        return False
    start = f"{code}# {kept[0] if kept else ''}"
    return korean.startswith(start) and HANGUL.search(korean[len(start) :]) is not None


@pytest.mark.parametrize(
    ("line", "korean", "same"),
    [
        ("a = 1  # a copy", "a = 1  # 복사본", True),
        ("a = 1  # a copy", "a = 2  # 복사본", False),
        ("a = 1  # a copy", "a = 1  # copied", False),
        ("rank(a)  # 4: its fourth", "rank(a)  # 4: 네 번째", True),
        ("rank(a)  # 4: its fourth", "rank(a)  # 5: 네 번째", False),
        ("key(a)  # 'queen'", "key(a)  # '여왕'", False),
        ("print(report)  # one found", "print(report)  # 하나 있음", False),
        ("malmoi demo  # japan", "malmoi demo  # 일본", False),
        ("# how to", "# 방법", True),
        ('mm.keys("a # b")', 'mm.keys("a # 나")', False),
    ],
)
def test_a_comment_of_prose_may_be_korean(line: str, korean: str, same: bool) -> None:
    assert same_line(line, korean) == same


def test_no_korean_page_is_without_its_english_page() -> None:
    assert sorted((DOCS / "ko").glob("*.md")) == sorted(
        set(TWINS.values()) - {ROOT / "README.ko.md"}
    )


@every_page
def test_headings_are_the_same(page: Path) -> None:
    levels = [(one.level, one.title) for one in sections(page)]
    korean = [(one.level, one.title) for one in sections(korean_page(page))]
    assert [level for level, _ in levels] == [level for level, _ in korean], (levels, korean)
    assert len(set(slugs(TWINS[page]))) == len(korean), "two headings have one anchor"


@every_page
def test_code_is_the_same_but_for_prose_in_comments(page: Path) -> None:
    for one, korean in pairs(page):
        assert [name for name, _ in one.blocks] == [name for name, _ in korean.blocks], one.title
        for (language, content), (_, translated) in zip(one.blocks, korean.blocks, strict=True):
            if language not in RUN:
                assert translated == content
                continue
            lines, ours = content.splitlines(), translated.splitlines()
            wrong = [both for both in zip(lines, ours, strict=False) if not same_line(*both)]
            assert (len(ours), wrong) == (len(lines), []), one.title


@every_page
def test_tables_have_the_same_rows_and_figures(page: Path) -> None:
    for one, korean in pairs(page):
        last = one is sections(page)[-1]
        tables = korean.tables[: -ONLY_KOREAN.get(page.stem, 0) or None] if last else korean.tables
        shape = [[len(row) for row in table] for table in one.tables]
        assert [[len(row) for row in table] for table in tables] == shape, one.title
        cells = [cell for table in tables for row in table for cell in row]
        for cell, translated in zip(one.cells, cells, strict=True):
            if HANGUL.search(translated):
                assert figures(cell) <= all_figures(translated), (cell, translated)
            else:
                assert without_targets(translated) == without_targets(cell)


@every_page
def test_every_figure_of_the_prose_is_there(page: Path) -> None:
    for one, korean in pairs(page):
        missing = figures(one.prose) - all_figures(korean.prose)
        assert not missing, (one.title, [str(number) for number in missing])


def all_figures(text: str) -> set[object]:
    """Of a Korean text, in which 만 after a number may also be the particle: 5만 is 5, too."""
    return {*figures(text), *figures(re.sub(r"(?<=\d)[천만억]", " ", text))}


@every_page
def test_every_name_and_option_is_there(page: Path) -> None:
    for one, korean in pairs(page):
        assert one.items == korean.items, f"{one.title}: items of lists"
        missing = code_spans(one.prose) - code_spans(korean.prose)
        assert not missing, (one.title, missing)


@every_page
def test_links_lead_to_the_same_headings_and_images(page: Path) -> None:
    for one, korean in pairs(page):
        expected = sorted(korean_target(page, target) for target in links(one.prose))
        found = sorted(place(TWINS[page], target) for target in links(korean.prose))
        assert found == expected, one.title


def place(page: Path, target: str) -> tuple[str, str]:
    """Where a link of a page leads: a file of the project, and the anchor of a heading."""
    name, _, anchor = target.partition("#")
    file = (page.parent / name).resolve() if name else page
    if file.suffix == ".md" and file.exists():  # a page that is missing fails elsewhere
        assert not anchor or anchor in slugs(file), f"{target}: {slugs(file)}"
    return str(file.relative_to(ROOT)), anchor if file.exists() else ""


def korean_target(page: Path, target: str) -> tuple[str, str]:
    """Where the Korean page must lead if the English page leads to a target."""
    name, _, anchor = target.partition("#")
    file = (page.parent / name).resolve() if name else page
    twin = korean_file(file)
    if anchor and twin.exists():
        anchor = slugs(twin)[slugs(file).index(anchor)]
    return str(twin.relative_to(ROOT)), anchor if twin.exists() else ""


def korean_file(file: Path) -> Path:
    """The Korean file of a page, a notebook or a drawing; others are shared by both languages."""
    if file.is_relative_to(NOTEBOOKS):
        return NOTEBOOKS / "ko" / file.relative_to(NOTEBOOKS)
    drawing = DOCS / "ko" / file.name
    if file.parent == DOCS and file.suffix == ".svg" and drawing.exists():
        return drawing
    return {**TWINS, ROOT / "README.ko.md": ROOT / "README.md"}.get(file, file)
