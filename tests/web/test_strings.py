"""What the page says: complete in both languages, and nothing beside the table."""

import re
from importlib.resources import files

import pytest

from tests.web.browser import Browser
from tests.web.test_functions import Run, run, runner  # noqa: F401

PAGES = ["projector", "report"]
USED = re.compile(
    r"""\bsay\(\s*"(\w+)"|data-say(?:-[a-z-]+)?="(\w+)"|say\(\w+ \? "(\w+)" : .*?"(\w+)\""""
)


def sources(page: str) -> dict[str, str]:
    return {
        file.name: file.read_text(encoding="utf-8")
        for file in (files("malmoi") / "web" / page).iterdir()
        if file.name.endswith((".js", ".html"))
    }


@pytest.mark.parametrize("page", PAGES)
def test_english_and_korean_have_the_same_strings(browser: Browser, page: str) -> None:
    english, korean = runner(browser, page)(
        "strings",
        """["en", "ko"].map(language => Object.entries(it.STRINGS[language]).map(([name, text]) =>
          [name, typeof text, typeof text === "function" ? text.length : 0,
           typeof text === "function" ? text("1", "2", "3") : text]))""",
    )
    assert [one[:3] for one in english] == [one[:3] for one in korean]
    assert all(text.strip() for _, _, _, text in (*english, *korean))
    assert not [name for name, _, _, text in korean if text.isascii()]


@pytest.mark.parametrize("page", PAGES)
def test_every_string_is_used_and_every_used_string_exists(browser: Browser, page: str) -> None:
    names = set(runner(browser, page)("strings", "Object.keys(it.STRINGS.en)"))
    texts = sources(page)
    del texts["strings.js"]
    used = {n for text in texts.values() for match in USED.findall(text) for n in match if n}
    by_their_names = {"cosine", "euclidean", "dot"}  # metrics
    by_their_names |= {"trainingAxis", "classifyingAxis", "sizeAxis"}  # of costs
    by_their_names |= {"model", "againstBest", "training", "classifying"}  # columns and costs
    assert used - names == set()
    mentioned = {name for name in names for text in texts.values() if f'"{name}"' in text}
    assert names - mentioned - by_their_names == set()


@pytest.mark.parametrize("page", PAGES)
def test_the_page_itself_has_no_text(page: str) -> None:
    body = sources(page)["page.html"].partition("<body>")[2].partition("<noscript>")[0]
    texts = re.findall(r">([^<>]+)<", re.sub(r"<kbd[^>]*>[^<]*</kbd>", "", body))
    assert {text.strip() for text in texts} <= {"", "2D", "3D", "×"}


def test_notes_of_python_are_translated(run: Run) -> None:  # noqa: F811
    said = run(
        "notes",
        """["cluster", "in three dimensions drawn by PaCMAP",
          "20,000 of 50,000 texts are drawn, evenly spaced", "4 keys shared, of 5 in a (b)",
          "my own field", "constructor"].map(one => it.translated(one, "ko"))""",
    )
    assert said == [
        "군집",
        "3차원에서는 PaCMAP(으)로 그렸습니다",
        "글 50,000편 중 고르게 뽑은 20,000편을 그렸습니다",
        "a (b)의 키 5개 중 4개가 양쪽에 있습니다",
        "my own field",
        "constructor",
    ]
    assert run("notes", "it.translated('cluster', 'en')") == "cluster"
    assert run("notes", "it.translatedLabel('script', 'Hangul', 'ko')") == "한글"
    assert run("notes", "it.translatedLabel('mine', 'Hangul', 'ko')") == "Hangul"
    assert run("notes", "it.translatedLabel('cluster', 'cluster 2', 'ko')") == "군집 2"


def test_texts_begin_with_whole_words(run: Run) -> None:  # noqa: F811
    texts = [
        "짧은 글",
        "메일 중에 이벤트 관련 내용이 있으면 알려줘",
        "a" * 40,
        "one\n two  three",
        "가" * 30,
        "  ",
    ]
    begun = run("labels", f"{texts!r}.map(it.beginning)")
    assert begun == [
        "짧은 글",
        "메일 중에 이벤트 관련 …",
        "a" * 25 + "…",
        "one two three",
        "가" * 12 + "…",
        "",
    ]
