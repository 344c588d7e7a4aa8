"""What a person does with the page, done in a real Chromium: search, neighbours, lasso, keys."""

import json
import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import malmoi as mm
from malmoi.keys import Keys
from malmoi.nearest.top_k import Metric
from malmoi.project.page.page import write_page
from malmoi.project.scene import Field, Scene
from malmoi.vectors import Vectors
from tests.web.browser import Browser, Page
from tests.web.scenes import ENGLISH, KOREAN, scene_of, space_of, vectors_of

WORDS = (*KOREAN, *ENGLISH)


def search(page: Page, text: str) -> list[str]:
    page.key("Escape")  # empties the box and leaves it
    page.key("/")
    page.type(text)
    return page.texts("#found [role=option] .key")


def test_search_finds_korean_by_initials_and_however_it_is_typed(
    browser: Browser, words: Path
) -> None:
    with browser.page(words.as_uri()) as page:
        page.ready()
        assert search(page, "ㅎㄱ") == ["한국", "학교", "비행기"]
        assert search(page, "ㄷㅎㅁㄱ") == ["대한민국"]
        assert search(page, "대ㅎ") == ["대한민국"]
        assert search(page, unicodedata.normalize("NFD", "한국")) == ["한국"]
        # As it is first; then half written; what only holds it last.
        assert search(page, "하") == ["하늘", "한국", "학교", "학생", "대한민국"]
        assert search(page, "KING") == ["king"]
        assert search(page, "o")[:2] == ["korea", "seoul"]  # in the order of rows
        assert search(page, "없는말") == []
        assert "없는말" in page.texts("#found")[0]


def test_search_follows_what_is_composed_and_leaves_enter_to_the_input_method(
    browser: Browser, words: Path
) -> None:
    with browser.page(words.as_uri()) as page:
        page.ready()
        page.key("/")
        for typed, found in [("ㅎ", "한국"), ("하", "하늘"), ("한", "한국")]:
            page.ask("Input.imeSetComposition", text=typed, selectionStart=1, selectionEnd=1)
            assert page.texts("#found .key")[0] == found
        page.value(
            "document.getElementById('search').dispatchEvent(new KeyboardEvent('keydown',"
            " { key: 'Enter', isComposing: true, bubbles: true }))"
        )
        assert page.texts("#point-title") == ["Point"]
        page.type("한")  # the syllable is done
        page.key("Enter")
        page.wait("document.querySelectorAll('#point li').length")
        assert page.texts("#point-title") == ["한국"]


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_neighbours_listed_are_those_of_the_library(
    browser: Browser, words: Path, metric: Metric
) -> None:
    expected = mm.neighbours(vectors_of(WORDS), "한국", k=10, metric=metric)
    with browser.page(words.as_uri()) as page:
        page.ready()
        search(page, "한국")
        page.key("Enter")
        page.wait("document.querySelectorAll('#point li').length")
        page.value(
            "[...document.querySelectorAll('#point .choice button')]"
            f".find(e => e.textContent === '{metric}').click()"
        )
        page.wait("document.querySelectorAll('#point li').length")
        page.settle()
        assert page.texts("#point-title") == ["한국"]
        assert page.texts("#point li .key") == [key for key, _ in expected]
        shown = [float(score) for score in page.texts("#point li .score")]
        assert shown == pytest.approx([score for _, score in expected], abs=0.6e-4)
        assert "한국" in page.texts("#live")[0]
        assert page.problems() == []


def test_analogy_is_answered_as_by_the_library_over_the_same_vectors(
    browser: Browser, words: Path
) -> None:
    coarse = space_of(vectors_of(WORDS)).coarse
    assert coarse is not None
    rounded = Vectors(Keys.of(WORDS), coarse.bytes * coarse.scales[:, None].astype(np.float32))
    expected = mm.analogy(rounded, "king - man + woman")
    with browser.page(words.as_uri()) as page:
        page.ready()
        assert (
            page.value("document.querySelector('#analogy input').placeholder")
            == "king - man + woman"
        )
        page.value("document.querySelector('#analogy form').requestSubmit()")
        page.wait("document.querySelectorAll('#analogy li').length")
        assert page.texts("#analogy li .key") == [key for key, _ in expected]
        assert page.texts("#analogy li .score") == [f"{score:.2f}" for _, score in expected]
        page.value("document.querySelector('#analogy input').value = 'king + nobody'")
        page.value("document.querySelector('#analogy form').requestSubmit()")
        page.wait("document.querySelector('#analogy .answers').textContent.includes('nobody')")


def test_an_empty_analogy_is_told_how_to_be_written(browser: Browser, tmp_path: Path) -> None:
    write_page(scene_of(["점", "선", "면"]), tmp_path / "few.html")
    with browser.page((tmp_path / "few.html").as_uri()) as page:
        page.ready()
        page.value("document.querySelector('#analogy form').requestSubmit()")
        page.wait("document.querySelector('#analogy .answers').textContent.includes('like king')")


def test_lasso_exports_what_it_circles(browser: Browser, tmp_path: Path) -> None:
    side = np.linspace(-1, 1, 7, dtype=np.float32)
    x, y = (axis.ravel() for axis in np.meshgrid(side, side))
    keys = [f"점 {i}\t{column:.0f}" for i, column in enumerate(3 * x)]
    vectors = vectors_of(keys)
    plane = np.stack([x, y], axis=1)
    solid = np.pad(plane, ((0, 0), (0, 1)))
    half = Field("half", "label", (x > 0).astype(np.int32), ("left", "right"))
    space = replace(
        space_of(vectors, name="grid"), coords_2d=plane, coords_3d=solid, fields=(half,)
    )
    path = tmp_path / "grid.html"
    write_page(Scene("Grid", (space,)), path)
    browser.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    with browser.page(path.as_uri()) as page:
        page.ready()
        left, top, width, height = page.value(
            "(({ left, top, width, height }) => [left, top, width, height])"
            "(document.querySelector('.over').getBoundingClientRect())"
        )
        scale = min(width, height) / 2 * 0.92

        def place(px: float, py: float) -> tuple[float, float]:
            return left + width / 2 + px * scale, top + height / 2 - py * scale

        # A triangle over the points with x > 0.2, y > -0.5 and x + y < 0.9.
        page.key("l")
        page.drag([place(*at) for at in [(0.2, -0.5), (0.8, -0.5), (1.4, -0.5), (0.2, 0.7)]])
        page.wait("!document.getElementById('circled').hidden")
        expected = [i for i in range(len(keys)) if x[i] > 0.2 and y[i] > -0.5 and x[i] + y[i] < 0.9]
        assert len(expected) == 6
        assert page.texts("#circled .keys button") == [keys[i] for i in expected]
        for kind in ("TSV", "JSON", "Vectors"):
            page.value(f"document.querySelector('[aria-label=\"Export as {kind}\"]').click()")
        records = json.loads(_arrived(page, tmp_path / "grid-6.json"))
        assert [record["key"] for record in records] == [keys[i] for i in expected]
        assert [record["x"] for record in records] == pytest.approx(x[expected], abs=1e-4)
        assert [record["y"] for record in records] == pytest.approx(y[expected], abs=1e-4)
        assert {record["half"] for record in records} == {"right"}
        header, *lines = _arrived(page, tmp_path / "grid-6_metadata.tsv").splitlines()
        assert header == "key\tx\ty\tx3\ty3\tz3\thalf"
        assert [line.split("\t")[0] for line in lines] == [
            keys[i].replace("\t", " ") for i in expected
        ]
        _arrived(page, tmp_path / "grid-6_tensor.tsv")
        back, numbers = mm.load(tmp_path / "grid-6_tensor.tsv"), vectors.matrix[expected]
        assert list(back.keys) == [keys[i].replace("\t", " ") for i in expected]
        steps = np.abs(numbers).max(axis=1, keepdims=True) / 127
        assert (np.abs(back.matrix - numbers) < steps).all()
        page.key("Escape")
        assert page.value("document.getElementById('circled').hidden")


def _arrived(page: Page, path: Path) -> str:
    for _ in range(200):
        if path.exists() and path.stat().st_size:
            return path.read_text(encoding="utf-8")
        page.value("new Promise(done => setTimeout(done, 25))")
    raise AssertionError(f"{path.name} was not handed over")


def test_keys_alone_reach_everything(browser: Browser, words: Path) -> None:
    with browser.page(words.as_uri()) as page:
        page.ready()
        seen = []
        for _ in range(14):
            page.key("Tab")
            seen.append(page.value("document.activeElement.id || document.activeElement.className"))
        assert seen[:8] == ["skip", "search", "flat", "solid", "fit", "lasso", "theme", "help"]
        assert seen[8] == "over"
        search(page, "ㅅㅇ")
        page.key("ArrowDown")
        page.key("ArrowUp")
        page.key("Enter")
        page.wait("document.querySelectorAll('#point li').length")
        assert page.texts("#point-title") == ["서울"]
        assert page.value("document.activeElement.className") == "over"
        before = page.screenshot()
        page.key("ArrowLeft")
        page.settle()
        moved = page.screenshot()
        page.key("+")
        page.settle()
        assert len({before, moved, page.screenshot()}) == 3
        page.key("0")
        page.key("v")
        assert page.texts("#circled .row p") == [f"{len(WORDS)} points"]
        page.key("Escape")
        assert page.texts("#point-title") == ["Point"]
        page.key("Enter")  # the point in the middle
        page.wait("document.querySelectorAll('#point li').length")
        page.key("?")
        assert page.value("document.getElementById('helping').open")
        page.key("Escape")
        assert not page.value("document.getElementById('helping').open")


def test_a_legend_ends(browser: Browser, tmp_path: Path) -> None:
    keys = [f"text {number}" for number in range(250)]
    own = Field("title", "label", np.arange(250, dtype=np.int32), tuple(keys))
    space = replace(space_of(vectors_of(keys)), fields=(own,))
    write_page(Scene("Texts", (space,)), tmp_path / "titles.html")
    with browser.page((tmp_path / "titles.html").as_uri()) as page:
        page.ready()
        assert len(page.texts(".legend button")) == 200
        assert "and 50 labels more" in page.texts(".legend .hint")


def test_labels_are_switched_off_in_the_legend(browser: Browser, words: Path) -> None:
    with browser.page(words.as_uri()) as page:
        page.ready()
        assert sorted(page.texts(".legend .key")) == ["noun", "verb", "동사"]
        page.value("[...document.querySelectorAll('.legend button')][0].click()")
        page.key("v")
        (said,) = page.texts("#circled .row p")
        assert int(said.split()[0]) == len(WORDS) - len(WORDS[::3])
        page.value(
            "{ const select = document.querySelector('#colour select'); select.value = 'frequency';"
            " select.dispatchEvent(new Event('change')); 0 }"
        )
        assert page.texts(".ends span")[0] != ""
        page.key("v")
        assert page.texts("#circled .row p") == [f"{len(WORDS)} points"]
