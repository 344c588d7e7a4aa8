"""What docs/bert.md shows is executed, with the file it shows, in an empty folder."""

import ast
import re
import shlex
from pathlib import Path

import pytest

from malmoi.cli import run
from tests.train.test_word_pages import answer

PAGE = (Path(__file__).parents[2] / "docs" / "bert.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_python_answers_what_the_page_says() -> None:
    code = "\n".join(blocks("python"))
    lines, names, answers = code.splitlines(), dict[str, object](), 0
    for statement in ast.parse(code).body:
        assert statement.end_lineno is not None
        found = answer(statement, names)
        _, _, expected = lines[statement.end_lineno - 1].partition("  # ")
        if expected:
            assert found == expected
            answers += 1
    assert answers >= 10


def test_commands_do_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (content,) = blocks("text")
    (tmp_path / "reviews.txt").write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    ours = [line for line in commands if line.startswith("malmoi ")]
    assert len(ours) == 5
    for command in ours:
        assert run(shlex.split(command)[1:]) == 0, command
        assert capsys.readouterr().out
