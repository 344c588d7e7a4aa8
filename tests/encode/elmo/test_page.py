"""What docs/elmo.md shows is executed: its Python on a small folder, its commands on its own."""

import shlex
from pathlib import Path

import pytest

from malmoi.cli import run
from tests.encode.elmo.folders import save_elmo
from tests.pages import assert_answers, blocks

LINES = [f"The bank of river {i} is far from the {i % 7} hills." for i in range(60)]


def test_python_answers_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_elmo(Path("elmo"), {"lstm": {"projection_dim": 16}})
    assert assert_answers("elmo") == 5


def test_commands_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("corpus.txt").write_text("\n".join(LINES), encoding="utf-8")
    commands = [line for block in blocks("elmo", "sh") for line in block.splitlines()]
    assert len(commands) == 6
    for command in commands:
        assert run(shlex.split(command)[1:]) == 0, (command, capsys.readouterr().err)
