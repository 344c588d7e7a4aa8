"""The page opens from disk in a real Chromium, asks for nothing, and draws, or says why not."""

import re
from pathlib import Path

import numpy as np

from malmoi.project.page.page import write_page
from malmoi.project.scene import Scene, Space
from tests.web.browser import Browser
from tests.web.scenes import ENGLISH, KOREAN, scene_of, space_of, vectors_of

HOSTILE = (
    "</script><img src=x onerror='document.title=`broken`'>",
    "<!--<script>",
    "]]>&amp;\"'",
    "줄\n바꿈",
    "$data ${1}",
    "\udcff broken bytes",
)


def test_opens_from_disk_without_any_other_request(browser: Browser, words: Path) -> None:
    with browser.page(words.as_uri()) as page:
        page.ready()
        assert page.requests() == [words.as_uri()]
        assert page.value("performance.getEntriesByType('resource').length") == 0
        assert page.value("document.querySelector('.view canvas').dataset.painter") == "webgl2"
        drawn = page.value("document.querySelector('.view canvas').dataset.points")
        assert int(drawn) == len(KOREAN) + len(ENGLISH)
        assert page.problems() == []


def test_the_policy_forbids_requests(browser: Browser, words: Path) -> None:
    with browser.page(words.as_uri()) as page:
        page.ready()
        asked = "fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')"
        assert page.value(asked) == "refused"
        assert any("Content Security Policy" in problem for problem in page.problems())


def test_draws_four_hundred_thousand_points(browser: Browser, tmp_path: Path) -> None:
    count, chance = 400_000, np.random.default_rng(1)
    solid = chance.normal(size=(count, 3)).astype(np.float32)
    keys = [f"w{i}" for i in range(count)]
    path = tmp_path / "many.html"
    space = Space("many", keys, solid[:, :2], solid, "chance", 0.0, {})
    write_page(Scene("Many", (space,)), path)
    with browser.page(path.as_uri()) as page:
        page.ready()
        assert page.value("document.querySelector('.view canvas').dataset.points") == "400000"
        assert "400,000 points" in page.texts("figcaption")[0]
        assert _inked(page.value(PIXELS)) > 50_000  # pixels of 640,000: the middle is full
        assert page.problems() == []


PIXELS = """(() => {
  const points = document.querySelector('.view canvas');
  const copy = document.createElement('canvas');
  copy.width = points.width; copy.height = points.height;
  points.dispatchEvent(new Event('repaint'));
  return new Promise(done => requestAnimationFrame(() => {
    const context = copy.getContext('2d');
    context.drawImage(points, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    let inked = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i] > 8) inked++;
    done(inked);
  }));
})()"""


def _inked(found: object) -> int:
    assert isinstance(found, int)
    return found


def test_points_are_drawn_without_webgl_too(browser: Browser, words: Path) -> None:
    without = """const real = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
      return kind === 'webgl2' ? null : real.call(this, kind, ...more);
    };"""
    with browser.page(words.as_uri(), before=without) as page:
        page.ready()
        assert page.value("document.querySelector('.view canvas').dataset.painter") == "canvas"
        assert _inked(page.value(PIXELS)) > 500
        page.key("3")
        page.settle()
        assert _inked(page.value(PIXELS)) > 500
        assert page.problems() == []


def test_hostile_keys_are_shown_as_text(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    space = space_of(vectors_of(HOSTILE), name="<b>model</b>")
    write_page(Scene("</title><script>document.title='broken'</script>", (space,)), path)
    with browser.page(path.as_uri()) as page:
        page.ready()
        assert page.value("document.title") == "</title><script>document.title='broken'</script>"
        page.key("/")
        page.type("img src")
        assert page.texts("#found .key") == ["</script><img src=x onerror…"]
        page.key("Enter")
        page.wait("document.querySelectorAll('#point li').length")
        assert page.texts("#point-title") == [HOSTILE[0]]
        assert "\\xff broken bytes" in page.texts("#point li .key")
        assert page.value("document.querySelectorAll('img, b:not(figcaption b)').length") == 0
        assert page.requests() == [path.as_uri()]
        assert page.problems() == []


def test_a_damaged_section_is_named(browser: Browser, tmp_path: Path, words: Path) -> None:
    text = words.read_text(encoding="utf-8")
    for name, message in [("coords_2d", "does not unpack"), ("keys", "missing from the page")]:
        section = re.search(rf'<script type="[^"]*" id="section-0-{name}">([^<]*)</script>', text)
        assert section is not None
        middle = len(section[1]) // 2
        spoiled = section[0].replace(
            section[1], section[1][:middle] + "AAAA" + section[1][middle + 4 :]
        )
        path = tmp_path / f"{name}.html"
        broken = spoiled if name == "coords_2d" else ""
        path.write_text(text.replace(section[0], broken), encoding="utf-8")
        with browser.page(path.as_uri()) as page:
            page.wait("document.documentElement?.dataset.failed === ''")
            (said,) = page.texts("#message")
            assert f"“{name}”" in said
            assert message in said
            assert "Write the page anew" in said


def test_one_point_is_drawn_and_has_no_neighbours(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "one.html"
    write_page(scene_of(["혼자"]), path)
    with browser.page(path.as_uri()) as page:
        page.ready()
        page.key("/")
        page.type("혼자")
        page.key("Enter")
        page.wait("document.querySelector('#point .answers .hint')")
        assert "no neighbours" in page.texts("#point .answers")[0]
        assert page.problems() == []


def test_a_page_without_lists_says_so(browser: Browser, tmp_path: Path) -> None:
    solid = np.eye(3, dtype=np.float32)
    path = tmp_path / "bare.html"
    space = Space("bare", ["a", "b", "c"], solid[:, :2], solid, "none", float("nan"), {})
    write_page(Scene("Bare", (space,)), path)
    with browser.page(path.as_uri()) as page:
        page.ready()
        assert page.texts("figcaption") == ["3 points · none"]
        assert page.value("document.getElementById('analogy').hidden")
        page.value("document.querySelector('.over').focus()")
        page.key("Enter")
        page.wait("document.querySelector('#point .answers .hint')")
        assert "without lists of neighbours" in page.texts("#point .answers")[0]
