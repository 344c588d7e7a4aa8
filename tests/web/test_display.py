"""A scene displays itself: in a frame of a notebook, or in the browser."""

import sys
import time
import webbrowser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from malmoi.project.page import display
from malmoi.project.page.page import write_page
from malmoi.project.scene import Scene
from tests.web.browser import Browser
from tests.web.scenes import KOREAN, scene_of, space_of, vectors_of

TITLE = """'"><script>broken</script>"""


def frame_target(browser: Browser) -> str:
    """The process of a sandboxed frame, which the browser starts a little later."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for target in browser.ask("Target.getTargets")["targetInfos"]:
            if target["type"] == "iframe":
                return str(target["targetId"])
        time.sleep(0.05)
    raise AssertionError("there is no frame")


def test_the_frame_holds_the_whole_page(browser: Browser, tmp_path: Path) -> None:
    scene = Scene(TITLE, (space_of(vectors_of(KOREAN)),))
    frame = scene._repr_html_()
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><meta charset=utf-8>{frame}", encoding="utf-8")
    with browser.page(notebook.as_uri()) as page:
        page.wait("document.querySelector('iframe')")
        assert page.value("document.querySelectorAll('script').length") == 0
        assert page.value("document.querySelector('iframe').title") == TITLE
        assert page.value("document.querySelector('iframe').offsetHeight") == 600
        session = browser.ask(
            "Target.attachToTarget", targetId=frame_target(browser), flatten=True
        )["sessionId"]

        def inside(expression: str) -> Any:
            answer = browser.ask("Runtime.evaluate", session, expression=expression)
            return answer["result"].get("value")

        for _ in range(200):
            if inside("document.documentElement.dataset.ready") == "":
                break
            page.value("new Promise(done => setTimeout(done, 25))")
        assert inside("document.querySelector('.view canvas').dataset.points") == str(len(KOREAN))
        assert [url for url in page.requests() if url.startswith("http")] == []
        assert page.problems() == []


def test_a_scene_is_described_in_a_line() -> None:
    assert repr(scene_of(["a", "b", "c"])) == "Scene(Words: 3 points by chance)"


def test_a_page_that_is_too_large_for_a_notebook_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(display, "MAX_FRAME_CHARS", 1000)
    assert "mm.write_page(scene, 'page.html')" in scene_of()._repr_html_()


def test_show_opens_the_browser_from_a_terminal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    scene = scene_of()
    path = scene.show()
    assert path is not None
    assert opened == [path.as_uri()]
    write_page(scene, tmp_path / "same.html")
    assert path.read_bytes() == (tmp_path / "same.html").read_bytes()
    path.unlink()


def test_show_displays_the_scene_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[object] = []
    shell = SimpleNamespace(kernel=object())
    modules: dict[str, Any] = {
        "IPython": SimpleNamespace(get_ipython=lambda: shell),
        "IPython.display": SimpleNamespace(display=shown.append),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    scene = scene_of()
    assert scene.show() is None
    assert shown == [scene]
