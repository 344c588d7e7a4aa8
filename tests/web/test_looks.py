"""How the page looks: light and dark, narrow, solid, two models side by side, served live."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

import malmoi as mm
from malmoi.project.page.page import live_files, write_page
from malmoi.project.scene import Field, Scene
from tests.web.browser import Browser
from tests.web.scenes import ENGLISH, KOREAN, scene_of, space_of, vectors_of

WORDS = (*KOREAN, *ENGLISH)
ALL = (*WORDS, "숨은말")  # what a server knows beside what is drawn


def test_light_and_dark_differ_and_the_button_changes_them(browser: Browser, words: Path) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    with browser.page(words.as_uri()) as page:
        light, shot = page.ready().value(paper), page.screenshot()
        page.prefer("dark")
        page.settle()
        dark = page.value(paper)
        assert dark != light
        assert page.screenshot() != shot
        page.value("document.getElementById('theme').click()")
        page.settle()
        assert page.value(paper) == light
        page.value("localStorage.clear()")


@pytest.mark.parametrize("width", [360, 760, 3840])
def test_nothing_is_cut_off_at_any_width(browser: Browser, words: Path, width: int) -> None:
    with browser.page(words.as_uri(), width=width, height=min(2160, width * 2)) as page:
        page.ready()
        assert page.value("document.documentElement.scrollWidth") <= width
        wide = "e => e.getBoundingClientRect().right <= innerWidth && e.offsetWidth >= 24"
        assert page.value(f"[...document.querySelectorAll('header button, #search')].every({wide})")
        assert page.value("document.querySelector('.over').offsetHeight") > 200


WATCHED = """{
  const write = CanvasRenderingContext2D.prototype.fillText;
  const clear = CanvasRenderingContext2D.prototype.clearRect;
  globalThis.written = [];
  CanvasRenderingContext2D.prototype.clearRect = function (...given) {
    globalThis.written = [];
    clear.apply(this, given);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    globalThis.written.push([text, x, x + this.measureText(text).width]);
    write.call(this, text, x, y);
  };
}"""


def test_the_chosen_name_is_written_once_and_inside(browser: Browser, tmp_path: Path) -> None:
    keys = [f"a name that is long: {number}" for number in range(40)]
    scene = scene_of(keys)
    write_page(scene, tmp_path / "long.html")
    place = (tmp_path / "long.html").as_uri()
    right = keys[int(scene.spaces[0].coords_2d[:, 0].argmax())]
    with browser.page(place, width=800, height=600, before=WATCHED) as page:
        page.ready()
        page.value(f"document.getElementById('search').value = {right!r}")
        page.value("document.getElementById('search').dispatchEvent(new Event('input'))")
        page.value("document.getElementById('search').focus()")
        page.key("Enter")
        page.wait("document.querySelectorAll('#point li').length")
        for _ in range(4):  # it was moved to the middle
            page.key("ArrowLeft")
        page.settle()
        written = page.value("written")
        width = page.value("document.querySelector('.over').clientWidth")
    ((_, begin, end),) = [one for one in written if one[0] == right]
    assert begin >= 0
    assert end <= width
    texts = [text for text, _, _ in written]
    assert len(texts) == len(set(texts))


def test_solid_pictures_turn(browser: Browser, words: Path) -> None:
    with browser.page(words.as_uri()) as page:
        flat = page.ready().screenshot()
        page.key("3")
        page.settle()
        solid = page.screenshot()
        page.drag([(400, 400), (450, 420), (520, 430)])
        page.settle()
        assert len({flat, solid, page.screenshot()}) == 3
        assert page.value("document.getElementById('solid').ariaPressed") == "true"


def test_two_models_share_what_is_chosen(browser: Browser, tmp_path: Path) -> None:
    first, second = vectors_of(WORDS), vectors_of(WORDS[5:], seed=8)
    path = tmp_path / "two.html"
    spaces = (space_of(first, name="first"), space_of(second, name="second", seed=4))
    write_page(Scene("Two", spaces), path)
    with browser.page(path.as_uri()) as page:
        page.ready()
        assert page.value("document.querySelectorAll('.view').length") == 2
        page.key("/")
        page.type("영화")
        page.key("Enter")
        page.wait("document.querySelectorAll('#point ol').length === 2")
        expected = [mm.neighbours(vectors, "영화") for vectors in (first, second)]
        keys = [[key for key, _ in found] for found in expected]
        assert page.texts("#point li .key") == [*keys[0], *keys[1]]
        both = len(set(keys[0]) & set(keys[1]))
        assert f"{both} of 10 in both" in page.texts("#point h4")[0]
        page.key("/")
        page.type("서울")
        page.key("Enter")
        page.wait("document.querySelectorAll('#point ol').length === 1")
        assert "It is not in second." in page.texts("#point .answers")[1]


@pytest.fixture
def address() -> Iterator[str]:
    """A server of the page's files, which answers questions over the whole model."""
    vectors = vectors_of(ALL)
    files = live_files(scene_of(WORDS))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            path = parts.path.removeprefix("/projector/") or "index.html"
            k = int(asked.get("k", 1))
            try:
                if path == "neighbours":
                    found = mm.neighbours(vectors, asked["word"], k=k)
                    self.answer("application/json", _json(neighbours=[n._asdict() for n in found]))
                elif path == "analogy":
                    found = mm.analogy(vectors, asked["expression"], k=k)
                    self.answer("application/json", _json(answers=[n._asdict() for n in found]))
                else:
                    self.answer(*files[path])
            except mm.MalmoiError as error:
                self.answer("application/json", _json(error={"message": str(error)}), 404)

        def answer(self, kind: str, body: bytes, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *values: object) -> None:
            """Nothing: tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/projector/"
    server.shutdown()
    thread.join()
    server.server_close()


def _json(**values: object) -> bytes:
    return json.dumps(values).encode()


def test_a_live_page_asks_its_server(browser: Browser, address: str) -> None:
    with browser.page(address) as page:
        page.ready()
        page.key("/")
        page.type("ㅎㄱ")
        page.key("Enter")
        page.wait("document.querySelectorAll('#point li').length")
        expected = mm.neighbours(vectors_of(ALL), "한국")
        assert page.texts("#point li .key") == [key for key, _ in expected]
        page.value("document.querySelector('#analogy form').requestSubmit()")
        page.wait("document.querySelectorAll('#analogy li').length")
        answers = mm.analogy(vectors_of(ALL), "king - man + woman")
        assert page.texts("#analogy li .key") == [key for key, _ in answers]
        asked = page.requests()
        assert any("neighbours?model=toy&word=" in url for url in asked)
        assert all(url.startswith((address, "data:")) for url in asked)
        assert not any("cosine-rows" in url or "coarse" in url for url in asked)
        assert page.problems() == []


def test_a_live_page_asks_for_words_that_are_not_drawn(browser: Browser, address: str) -> None:
    with browser.page(address) as page:
        page.ready()
        page.key("/")
        page.type("숨은말")
        assert page.texts("#found [role=option]") == ["Ask the model for “숨은말”"]
        page.key("Enter")
        page.wait("document.querySelectorAll('#point li').length")
        expected = mm.neighbours(vectors_of(ALL), "숨은말")
        assert page.texts("#point li .key") == [key for key, _ in expected]
        assert "not drawn" in page.texts("#point .hint")[0]
        page.key("Escape")
        page.key("/")
        page.type("숨은")
        page.key("Enter")
        page.wait("document.querySelector('#point .answers .hint')")
        assert "'숨은' is not in the vectors" in page.texts("#point .answers")[0]


def test_occurrences_of_a_word_are_told_apart_by_their_lines(
    browser: Browser, tmp_path: Path
) -> None:
    lines = [f"배를 타고 섬에 갔다 {i}" for i in range(8)] + [
        f"배를 깎아 먹었다 {i}" for i in range(8)
    ]
    sense = Field("sense", "label", np.repeat(np.arange(2, dtype=np.int32), 8), ("바다", "과일"))
    plain = space_of(vectors_of(lines))
    plane = plain.coords_2d * np.float32(0.5)
    plane[:3] = [[0, 0], [-1, -1], [1, 1]]  # the first is in the middle
    space = replace(plain, keys=["배"] * 16, coords_2d=plane, details=lines, fields=(sense,))
    path = tmp_path / "senses.html"
    write_page(Scene("배", (space,)), path)
    with browser.page(path.as_uri()) as page:
        page.ready()
        page.key("/")
        page.type("깎아")  # is in no key
        assert page.texts("#found .line") == lines[8:]
        page.key("Enter")
        page.wait("document.querySelectorAll('#point li').length")
        assert page.texts("#point .sentence") == [lines[8]]
        near = space.near["cosine"].rows[8]
        assert page.texts("#point li .key") == [lines[row] for row in near]
        page.key("v")
        assert page.texts("#circled .keys button") == lines
        x, y = page.value(
            "(({ left, top, width, height }) => [left + width / 2, top + height / 2])"
            "(document.querySelector('.over').getBoundingClientRect())"
        )
        page.mouse("mouseMoved", x, y)
        page.settle()
        assert page.texts(".tip") == [lines[0]]


def test_korean_is_drawn_as_korean(browser: Browser, words: Path) -> None:
    if not subprocess.run(["fc-list", ":lang=ko"], capture_output=True, check=False).stdout:
        pytest.skip("there is no Korean font on this machine: apt-get install fonts-nanum")
    drawn = """((text) => {
      const canvas = document.createElement('canvas'), context = canvas.getContext('2d');
      context.font = getComputedStyle(document.body).font;
      context.fillText(text, 10, 30);
      return canvas.toDataURL();
    })"""
    with browser.page(words.as_uri()) as page:
        page.ready()
        # Without a font every syllable is the same empty box.
        assert len({page.value(f"{drawn}('{syllable}')") for syllable in "한국말모이"}) == 5
