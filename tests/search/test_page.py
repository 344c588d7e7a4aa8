"""What docs/search.md shows is executed, with the file it shows, in an empty folder."""

import shlex
from pathlib import Path

import pytest

from malmoi.cli import run
from tests.pages import assert_answers, blocks


def test_python_answers_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("kiwipiepy")
    monkeypatch.chdir(tmp_path)
    assert assert_answers("search") >= 9


def test_commands_do_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (content,) = blocks("search", "text")
    (tmp_path / "notes.jsonl").write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    commands = [line for block in blocks("search", "sh") for line in block.splitlines()]
    assert len(commands) == 7
    shown = []
    for command in commands:
        assert run(shlex.split(command)[1:]) == 0, command
        shown.append(capsys.readouterr().out)
    assert "n2" in shown[1]
    assert shown[2].split()[1] == "n1"
    assert "weight of words: 0.50 (given)" in shown[4]
    assert "minilm" in shown[5]
    assert "minilm → use" in shown[6]
