"""Pages that no other test executes: what they show is run in a folder with the files they name."""

import ast
import gzip
import re
import shlex
from pathlib import Path

import pytest

from malmoi.cli import run
from tests.pages import answer, blocks

LINES = ["ice is cold and solid", "steam is hot and a gas", "ice and steam are water", "the king"]
SURE = re.compile(r"  # ('.*'|\d[^:]*)")  # a comment that is an answer, perhaps with … at its end
PAGES = ["asking", "values", "text", "counts", "language-models"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    many = [f"word{i} beside word{i * 7 % 120} and word{i * 11 % 120}" for i in range(120)]
    Path("corpus.txt").write_text("\n".join([*LINES, "fashion is hot", *many] * 5))
    reviews = "id,document\n" + "1,영화가 재미있다\n2,재미있는 영화\n" * 6
    Path("reviews.csv").write_text(reviews, encoding="cp949")


@pytest.mark.parametrize("page", PAGES)
def test_python_runs_and_answers_as_shown(page: str) -> None:
    code, names = "\n".join(blocks(page, "python")), dict[str, object]()
    lines = code.splitlines()
    for statement in ast.parse(code).body:
        assert statement.end_lineno is not None
        found = answer(statement, names)
        if said := SURE.search(lines[statement.end_lineno - 1]):
            assert found.startswith(said[1].split("…")[0]), lines[statement.end_lineno - 1]
    assert names


@pytest.mark.parametrize("page", ["counts", "language-models"])
def test_commands_run(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    commands = [line for block in blocks(page, "sh") for line in block.splitlines()]
    assert len(commands) >= 3
    for command in commands:
        if "--resume" not in command:  # that is for what was interrupted
            assert run(shlex.split(command)[1:]) == 0, (command, capsys.readouterr().err)


def test_commands_on_text_run(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt.gz").write_bytes(gzip.compress(Path("corpus.txt").read_bytes()))
    for command in blocks("text", "sh")[0].splitlines():
        assert run(shlex.split(command)[1:]) == 0
