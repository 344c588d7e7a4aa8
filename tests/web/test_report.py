"""The report of a comparison in a real browser: wide, narrow, light, dark, in two languages."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from malmoi.classify.compare.report import write_report
from malmoi.classify.compare.result import Comparison
from tests.classify.comparisons import MODELS, comparison
from tests.classify.test_report import hostile
from tests.web.browser import Browser, Page
from tests.web.test_functions import runner

PAPER = "getComputedStyle(document.body).backgroundColor"
NAMES = [one[0] for one in MODELS]
ROWS = "#models tbody th button"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reports") / "report.html"
    write_report(comparison(), path)
    return path


def written(made: Comparison, folder: Path) -> str:
    write_report(made, folder / "report.html")
    return (folder / "report.html").as_uri()


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("language", ["en-US", "ko-KR"])
def test_the_page_fits_and_complains_of_nothing(
    browser: Browser, report: Path, width: int, dark: bool, language: str
) -> None:
    where = report.as_uri()
    with browser.page(where, width=width, height=900, dark=dark, language=language) as page:
        page.ready()
        assert page.value("document.documentElement.scrollWidth") <= width
        assert page.texts(ROWS) == NAMES
        assert page.value("document.documentElement.lang") == language[:2]
        title = page.texts("h1")[0]
        assert title == (
            comparison().sentence
            if language == "en-US"
            else "‘ngrams’ 모델을 추천합니다. 정확도 88.4 %로 오차 범위 안에서 "
            "‘ngrams+minilm’(88.7 %)만큼 좋고, 80배 저렴합니다."
        )
        assert all(note in "".join(page.texts(".notes li")) for note in ("214", "37"))
        narrow = "e => e.getBoundingClientRect().right <= innerWidth + 1"
        shown = "[...document.querySelectorAll('h1, h2, .plot, .card, .tiles, select')]"
        assert page.value(f"{shown}.every({narrow})")
        assert page.requests() == [where, "data:,"] or page.requests() == [where]
        assert page.problems() == []


def test_the_theme_follows_the_system_and_the_button(browser: Browser, report: Path) -> None:
    with browser.page(report.as_uri()) as page:
        light = page.ready().value(PAPER)
        page.prefer("dark")
        page.settle()
        assert page.value(PAPER) != light
        page.value("document.getElementById('theme').click()")
        page.settle()
        assert page.value(PAPER) == light
        page.value("localStorage.clear()")


def sorted_by(page: Page) -> str:
    found: str = page.value(
        "(e => `${e.dataset.column} ${e.ariaSort}`)"
        "(document.querySelector('[aria-sort]:not([aria-sort=none])'))"
    )
    return found


def test_the_table_is_sorted_by_click_and_by_key(browser: Browser, report: Path) -> None:
    with browser.page(report.as_uri()) as page:
        page.ready()
        assert sorted_by(page) == "accuracy descending"
        page.value("document.querySelector('[data-column=training] button').click()")
        by_cost = [one[0] for one in sorted(MODELS, key=lambda one: one[4])]
        assert page.texts(ROWS) == by_cost
        assert sorted_by(page) == "training ascending"
        page.value("document.querySelector('[data-column=training] button').focus()")
        page.key("Enter")
        assert page.texts(ROWS) == by_cost[::-1]
        assert sorted_by(page) == "training descending"
        page.value("document.querySelector('[data-column=model] button').click()")
        assert page.texts(ROWS) == sorted(NAMES)
        assert page.texts("#live") == ["Sorted by model."]


def test_a_chosen_model_is_shown_everywhere(browser: Browser, report: Path) -> None:
    with browser.page(report.as_uri()) as page:
        page.ready()
        assert page.texts("#chosen h2") == ["ngrams"]
        page.value("document.querySelectorAll('#models tbody tr')[4].click()")
        page.settle()
        assert page.texts("#chosen h2") == ["use"]
        assert page.texts("#models .is-chosen th button") == ["use"]
        assert page.texts(".point.is-chosen text") == ["use"]
        assert page.texts(".curve.is-chosen text") == ["use"]
        counts = comparison().models[4].confusion
        shown = [f"{count:,}" for row in counts for count in row]
        assert page.texts(".matrix tbody td") == shown
        page.value("document.querySelector('[data-cost=size]').click()")
        assert "size of the file" in page.texts("#costs .plot text")


def test_parts_that_speak_for_the_wrong_label_are_marked(browser: Browser, report: Path) -> None:
    with browser.page(report.as_uri()) as page:
        page.ready()
        assert page.texts(".card:first-child mark") == ["정말", "최고"]
        assert (
            page.value("document.querySelector('.card mark:nth-of-type(2)').className") == "mark-5"
        )
        texts = [one.text for one in comparison().models[1].mistakes]
        assert page.texts(".card .text") == texts


def test_overlapping_marks_add_up(browser: Browser) -> None:
    run = runner(browser, "report")
    parts = '[["ab", "x", 2], ["BC", "x", 2], ["zz", "x", 9], [" ", "x", 9]]'
    assert run("mistakes", f'it.strengths("abc d", {parts})') == [3, 5, 3, 0, 0]
    assert run("mistakes", 'it.strengths("", [])') == []
    assert run("mistakes", 'it.strengths("ha with", [["h ", "x", 1]])') == [0] * 6 + [5]
    assert run("mistakes", 'it.strengths("ho hah", [[" h", "x", 1]])') == [5, 0, 0, 5, 0, 0]
    assert run("mistakes", 'it.strengths("a hat", [["a", "x", 1]])') == [5, 0, 0, 0, 0]
    assert run("mistakes", 'it.strengths("İH", [["H", "x", 1]])') == [0, 5]
    assert run("mistakes", "it.runs([0, 2, 2, 1])") == [[0, 1, 0], [1, 3, 2], [3, 4, 1]]


def test_numbers_are_as_people_read_them(browser: Browser) -> None:
    run = runner(browser, "report")
    said = run("numbers", "[0, .004, .12345, 3.14159, 92123.4, null].map(it.short)")
    assert said == ["0", "< 0.01", "0.12", "3.14", "92,100", "–"]
    sizes = run("numbers", "[12, 92000, 5200000, 2.5e9].map(it.readableSize)")
    assert [one.replace("\u2009", " ") for one in sizes] == ["< 1 kB", "92 kB", "5.2 MB", "2.5 GB"]
    assert run("numbers", "[-.0029, .012, .00001].map(one => it.signed(one))") == [
        "−0.29",
        "+1.20",
        "0.00",
    ]


def test_notes_of_python_are_korean(browser: Browser) -> None:
    note = (
        "a.csv: 900 texts have the label x and 3 the label y: look at macro-F1, or balance the"
        " classes"
    )
    said = runner(browser, "report")("notes", f"it.translated({note!r}, 'ko')")
    assert said.startswith("a.csv: 레이블 x의 글은 900편, 레이블 y의 글은 3편입니다.")


def test_names_stay_apart_in_a_column(browser: Browser) -> None:
    heights = runner(browser, "report")("svg", "it.spread([50, 50, 10, 52], 0, 100, 15)")
    ordered = sorted(heights)
    assert all(b - a >= 15 for a, b in pairwise(ordered))
    assert runner(browser, "report")("svg", "it.spread([5, 6, 7], 0, 15, 15)")[2] is None


def test_markup_in_names_and_texts_is_text(browser: Browser, tmp_path: Path) -> None:
    with browser.page(written(hostile(), tmp_path), width=390) as page:
        page.ready()
        assert page.value("globalThis.hit") is None
        assert page.value("document.querySelectorAll('main img, main script').length") == 0
        assert page.texts("h1") != []
        assert page.value("document.documentElement.scrollWidth") <= 390
        assert page.problems() == []


def test_a_comparison_without_some_parts_is_shown(browser: Browser, tmp_path: Path) -> None:
    made = comparison()
    bare = tuple(
        replace(one, confusion=(), curve=(), mistakes=(), difference=None)
        for one in made.models[:1]
    )
    few = replace(made, models=bare, multi_label=True, failed=(), notes=(), recommended=NAMES[0])
    with browser.page(written(few, tmp_path)) as page:
        page.ready()
        assert page.value("document.getElementById('curves').hidden")
        assert page.texts(".matrix") == []
        assert page.problems() == []
    none = replace(few, models=(), recommended="", sentence="No model has scores.")
    with browser.page(written(none, tmp_path)) as page:
        page.ready()
        assert page.texts("h1") == ["No model has scores."]
        assert page.value("document.getElementById('models').hidden")
        assert page.problems() == []


def test_damaged_data_are_one_sentence(browser: Browser, report: Path, tmp_path: Path) -> None:
    text = report.read_text(encoding="utf-8").replace('id="comparison">{', 'id="comparison">{{')
    (tmp_path / "damaged.html").write_text(text, encoding="utf-8")
    with browser.page((tmp_path / "damaged.html").as_uri()) as page:
        page.wait("document.documentElement?.dataset.failed === ''")
        assert "The data of this page are damaged" in page.texts("#headline [role=alert]")[0]
