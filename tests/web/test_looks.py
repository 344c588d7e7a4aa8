"""How the page looks: light and dark, narrow, solid, two models side by side, served live."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest

import malmoi as mm
from malmoi.project.page import live_files, write_page
from malmoi.project.scene import Scene
from tests.web.browser import Browser
from tests.web.scenes import ENGLISH, KOREAN, scene_of, space_of, vectors_of

WORDS = (*KOREAN, *ENGLISH)


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
    vectors = vectors_of(WORDS)
    files = live_files(scene_of(WORDS))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            path = parts.path.removeprefix("/projector/") or "index.html"
            if path == "neighbours":
                found = mm.neighbours(vectors, asked["word"], k=int(asked["k"]))
                self.answer("application/json", _json(neighbours=[n._asdict() for n in found]))
            elif path == "analogy":
                found = mm.analogy(vectors, asked["expression"], k=int(asked["k"]))
                self.answer("application/json", _json(answers=[n._asdict() for n in found]))
            elif path in files:
                self.answer(*files[path])
            else:
                self.send_error(404)

        def answer(self, kind: str, body: bytes) -> None:
            self.send_response(200)
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
        expected = mm.neighbours(vectors_of(WORDS), "한국")
        assert page.texts("#point li .key") == [key for key, _ in expected]
        page.value("document.querySelector('#analogy form').requestSubmit()")
        page.wait("document.querySelectorAll('#analogy li').length")
        answers = mm.analogy(vectors_of(WORDS), "king - man + woman")
        assert page.texts("#analogy li .key") == [key for key, _ in answers]
        asked = page.requests()
        assert any("neighbours?model=toy&word=" in url for url in asked)
        assert all(url.startswith((address, "data:")) for url in asked)
        assert not any("cosine-rows" in url or "coarse" in url for url in asked)
        assert page.problems() == []
