"""What docs/word2vec.md and docs/fasttext.md show is executed, with the files they show."""

import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest

from malmoi.cli import run
from tests.pages import DOCS, assert_answers, blocks

PAGES = {"word2vec": ["fishing.txt"], "fasttext": ["fishing.txt", "korean.txt"]}

every_page = pytest.mark.parametrize("page", list(PAGES))


def prepare(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in zip(PAGES[page], blocks(page, "text"), strict=True):
        (folder / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(folder)


@every_page
def test_python_answers_what_the_page_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(page, tmp_path, monkeypatch)
    assert assert_answers(page) >= 6


@every_page
def test_commands_do_what_the_page_says(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    prepare(page, tmp_path, monkeypatch)
    commands = [line for block in blocks(page, "sh") for line in block.splitlines()]
    assert len(commands) == 4
    for command in commands:
        assert run(shlex.split(command)[1:]) == 0, command
        assert capsys.readouterr().out


@every_page
def test_pictures_are_there_and_can_be_read(page: str) -> None:
    (name,) = re.findall(r"!\[.*\]\((.*\.svg)\)", (DOCS / f"{page}.md").read_text("utf-8"))
    picture = ElementTree.parse(DOCS / name).getroot()
    assert picture.tag.endswith("svg")
    assert "prefers-color-scheme: dark" in (DOCS / name).read_text("utf-8")
