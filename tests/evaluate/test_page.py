"""What docs/evaluation.md shows is executed, with the files it shows, in an empty folder."""

import shlex
from pathlib import Path

import pytest

from malmoi.cli import run
from tests.pages import blocks


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in zip(
        ("pairs.tsv", "analogies.txt", "sentences.csv"), blocks("evaluation", "text"), strict=True
    ):
        (tmp_path / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def test_python_answers_what_the_page_says() -> None:
    names: dict[str, object] = {}
    answers = 0
    for line in "\n".join(blocks("evaluation", "python")).splitlines():
        code, _, expected = line.partition("  # ")
        if expected:
            assert repr(eval(code, names)) == expected.strip(), line
            answers += 1
        else:
            exec(code.partition(" # ")[0], names)
    assert answers >= 6


def test_commands_do_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    commands = [line for block in blocks("evaluation", "sh") for line in block.splitlines()]
    assert len(commands) == 8
    for command in commands:
        assert run(shlex.split(command)[1:]) == 0, command
        assert capsys.readouterr().out
