"""What docs/word2vec.md and docs/fasttext.md show is executed, with the files they show."""

import shlex
from pathlib import Path

import pytest

from malmoi.cli import run
from tests.pages import assert_answers, blocks

PAGES = {"word2vec": ["fishing.txt"], "fasttext": ["fishing.txt", "korean.txt"]}
NEAREST = {"fishing": "fisher", "electrofishing": "fishing", "강이지": "강아지는"}

every_page = pytest.mark.parametrize("page", list(PAGES))


def prepare(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in zip(PAGES[page], blocks(page, "text"), strict=True):
        (folder / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(folder)


@pytest.mark.filterwarnings("ignore::malmoi.errors.MalmoiWarning")  # typos are corrected
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
    lines = "".join(blocks(page, "sh")).replace("\\\n", " ").splitlines()
    assert len(lines) == 4
    for line in lines:
        command = shlex.split(line)[1:]
        assert run(command) == 0, line
        told = capsys.readouterr().out
        if command[0] == "neighbours":
            asked, first, *_ = told.splitlines()
            assert first.split()[1] == NEAREST[asked]
        else:
            assert told
