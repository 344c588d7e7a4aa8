"""The live page of an index: questions, models to choose from, Korean, fingers."""

import json
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

import malmoi as mm
from malmoi.serve.service.loaded_models import LoadedModel, Models
from tests.serve.fixtures import serving
from tests.web.browser import Browser, Page
from tests.web.scenes import KOREAN, vectors_of
from tests.web.test_looks import WATCHED

THINGS = ["사과", "바다", "학교", "기차", "음악", "영화"]
DEEDS = ["맛있게 먹었다", "멀리서 보았다", "오래 기다렸다", "즐겁게 들었다", "일찍 떠났다"]
TEXTS = [f"{thing} {deed}" for thing, deed in product(THINGS, DEEDS)]
LONG = "기차 " + "아주 길게 이어지는 " * 60 + "끝"
OUTLINE = "getComputedStyle(document.querySelector('.over')).outlineStyle"


@pytest.fixture(scope="module")
def index() -> mm.Index:
    words = sorted({word for text in [*TEXTS, LONG] for word in text.split()})
    encoder = mm.average_encoder(vectors_of(words, dim=24))
    fields = [{"thing": text.split()[0]} for text in [*TEXTS, LONG]]
    ids = [f"id-{i}" for i in range(len(TEXTS) + 1)]
    return mm.build_index(encoder, [*TEXTS, LONG], ids=ids, fields=fields)


@pytest.fixture(scope="module")
def address(index: mm.Index) -> Iterator[str]:
    notes = LoadedModel("글", "notes", vectors=index.vectors, index=index)
    words = LoadedModel("words", "words", vectors=vectors_of(KOREAN))
    with serving(Models({"글": notes, "words": words})) as server:
        yield f"{server.address}/"


def ask(page: Page, question: str) -> None:
    page.key("/")
    page.type(question)
    page.key("Enter")
    page.wait("document.querySelector('#hits .answers:not([aria-busy])')")
    page.settle()


def test_a_question_lights_up_its_hits(browser: Browser, address: str, index: mm.Index) -> None:
    expected = index.search("바다 보았다", k=10)
    with browser.page(address, before=WATCHED) as page:
        page.ready()
        ask(page, "바다 보았다")
        assert page.texts("#hits .key") == [hit.text for hit in expected]
        assert page.texts("#hits .score") == [f"{hit.score:.2f}" for hit in expected]
        written = [text for text, _, _ in page.value("written")]
        assert {str(rank) for rank in range(1, 11)} <= set(written)
        page.value("document.querySelector('#hits li:nth-child(3) button').click()")
        page.wait("document.querySelectorAll('#point li').length")
        assert page.texts("#point-title") == [expected[2].id]
        assert page.texts("#point .sentence") == [expected[2].text]
        page.key("Escape")
        assert page.value("document.getElementById('hits').hidden")
        assert page.problems() == []
        asked = [url for url in page.requests() if "/search?" in url]
        assert len(asked) == 1


def test_a_question_that_fails_is_one_sentence(browser: Browser, address: str) -> None:
    refused = """const real = fetch, ours = (url) => String(url).startsWith("search");
    globalThis.fetch = (url, ...more) => ours(url) ?
      Promise.resolve(new Response('{"error": {"message": "it is too long"}}', { status: 400 })) :
      real(url, ...more);"""
    with browser.page(address, before=refused) as page:
        page.ready()
        ask(page, "바다")
        assert page.texts("#hits .hint") == ["it is too long"]


def test_points_are_labelled_by_their_texts(browser: Browser, address: str) -> None:
    with browser.page(address, before=WATCHED) as page:
        page.ready()
        written = [text for text, _, _ in page.value("written")]
        assert set(written) & set(TEXTS)
        assert not any(text.startswith("id-") for text in written)
        page.key("/")
        page.type("id-30")  # keys are still searched
        assert page.texts("#found .id") == ["id-30"]
        page.key("ArrowDown")
        page.key("Enter")
        page.wait("document.querySelectorAll('#point li').length")
        assert page.texts("#point .sentence") == [LONG]  # whole
        assert page.value("document.getElementById('analogy').hidden")


def test_the_keyboard_draws_no_frame_around_the_picture(browser: Browser, address: str) -> None:
    with browser.page(address) as page:
        page.ready()
        page.key("/")
        page.type("id-3")
        page.key("ArrowDown")
        page.key("Enter")
        assert page.value("document.activeElement.className") == "over"
        assert page.value("document.querySelector('.over').matches(':focus-visible')")
        assert page.value(OUTLINE) == "none"
        shadow = "getComputedStyle(document.querySelector('figcaption')).boxShadow"
        assert page.value(shadow) != "none"  # where the keys go is seen below


def test_every_model_can_be_chosen(browser: Browser, address: str) -> None:
    with browser.page(address) as page:
        page.ready()
        assert page.texts("#model option") == ["글", "words"]
        page.value(
            "{ const select = document.getElementById('model'); select.value = 'words';"
            " select.dispatchEvent(new Event('change')); 0 }"
        )
        page.wait("location.search === '?model=words'")
        page.ready()
        assert page.value("document.title") == "words"
        assert not page.value("document.getElementById('analogy').hidden")
        page.key("/")
        page.type("한국")
        page.key("Enter")
        page.wait("document.querySelectorAll('#point li').length")
        expected = mm.neighbours(vectors_of(KOREAN), "한국")
        assert page.texts("#point li .key") == [key for key, _ in expected]


def test_the_page_speaks_korean_where_the_browser_does(browser: Browser, address: str) -> None:
    with browser.page(address, language="ko-KR,ko,en") as page:
        page.ready()
        assert page.value("document.documentElement.lang") == "ko"
        assert page.texts("#point-title") == ["점"]
        ask(page, "바다")
        page.key("?")
        seen = page.value("document.body.innerText")
        assert "검색 결과" in seen
        assert "둘러보는 방법" in seen
        own = {"words", "thing", "Enter", "Shift", "Esc", "PCA", "TSV", "JSON"}  # keys and data
        latin = {
            word for word in seen.replace("·", " ").split() if word.isascii() and word.isalpha()
        }
        assert {word for word in latin if len(word) > 1} <= own
        labels = page.value(
            "[...document.querySelectorAll('[aria-label], [title], [placeholder]')].flatMap("
            "e => ['aria-label', 'title', 'placeholder'].map(name => e.getAttribute(name)))"
        )
        for label in filter(None, labels):
            assert not label.isascii(), label


@pytest.mark.parametrize("language", ["en-US", "ko-KR"])
@pytest.mark.parametrize("width", [360, 414])
def test_fingers_find_44_pixels(browser: Browser, address: str, width: int, language: str) -> None:
    with browser.page(address, width=width, height=740, language=language) as page:
        page.ready()
        ask(page, "바다")
        page.value("document.querySelector('#hits li button').click()")
        page.wait("document.querySelectorAll('#point li').length")
        small = page.value(
            "[...document.querySelectorAll('button, select, input')]"
            ".map(e => [e.id || e.className || e.textContent, e.getBoundingClientRect()])"
            ".filter(([_, box]) => box.width && (box.width < 44 || box.height < 44))"
            ".map(([name, box]) => `${name}: ${box.width} × ${box.height}`)"
        )
        assert small == []
        assert page.value("document.documentElement.scrollWidth") <= width
        assert page.value("document.querySelector('.over').offsetHeight") > 200


def test_an_open_page_takes_the_better_picture(browser: Browser, address: str) -> None:
    """The server describes two pictures one after the other; the page shows the second in place."""
    script = """const real = fetch; let asked = 0;
    globalThis.fetch = async (url, ...more) => {
      const answer = await real(url, ...more);
      if (!String(url).startsWith("scene.json")) return answer;
      const scene = await answer.json();
      scene.computing = asked++ ? null : "t-SNE";
      if (!scene.computing) scene.spaces[0].reduction = "t-SNE";
      return new Response(JSON.stringify(scene));
    };
    const later = setTimeout;
    globalThis.setTimeout = (act, wait) => later(act, Math.min(wait, 50));"""
    with browser.page(address, before=script) as page:
        page.ready()
        page.wait("document.querySelector('figcaption').textContent.includes('t-SNE · keeps')")
        assert "computing" not in page.texts("figcaption")[0]
        read = [url for url in page.requests() if "coords_2d" in url]
        assert len(read) == 2
        assert page.problems() == []


def test_a_chosen_text_of_a_file_is_whole_too(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, index: mm.Index
) -> None:
    path = tmp_path_factory.mktemp("page") / "index.html"
    settings = mm.ProjectionSettings(method="pca")
    mm.write_page(mm.build_scene(mm.index_points(index, "글"), settings=settings), path)
    with browser.page(path.as_uri()) as page:
        page.ready()
        page.key("/")
        page.type("id-30")
        page.key("Enter")
        page.wait("document.querySelectorAll('#point li').length")
        assert page.texts("#point .sentence") == [LONG]
        near = page.texts("#point li .key")
        assert set(near) <= set(TEXTS)
        scores = np.array([float(score) for score in page.texts("#point li .score")])
        assert (np.diff(scores) <= 0).all()
        assert page.requests() == [path.as_uri()]
        assert (
            json.loads(page.value("document.getElementById('scene').textContent"))["title"] == "글"
        )
