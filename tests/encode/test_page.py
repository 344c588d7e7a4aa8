"""What docs/bert.md shows is executed, with the file it shows, in an empty folder."""

import shlex
from pathlib import Path

import pytest

from malmoi.cli import run
from tests.pages import assert_answers, blocks


def test_python_answers_what_the_page_says() -> None:
    assert assert_answers("bert") >= 10


def test_commands_do_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in zip(("senses.tsv", "reviews.txt"), blocks("bert", "text"), strict=True):
        (tmp_path / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    commands = [line for block in blocks("bert", "sh") for line in block.splitlines()]
    ours = [line for line in commands if line.startswith("malmoi ")]
    assert len(ours) == 7
    shown = blocks("bert", "output")
    for command in ours:
        assert run(shlex.split(command)[1:]) == 0, command
        printed = capsys.readouterr().out
        assert printed
        if command.startswith("malmoi context"):  # two digits are the same everywhere, three not
            assert printed in shown or printed.splitlines()[:2] == shown[1].splitlines()[:2]
