"""What docs/postgres.md shows is executed against a real server."""

import shlex
from pathlib import Path

import pytest

from malmoi.cli import run
from tests.pages import assert_answers, blocks
from tests.postgres_server import PrivateServer

SHOWN = "postgresql://me@localhost/texts?"


def test_python_answers_what_the_page_says(
    server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("kiwipiepy")
    monkeypatch.chdir(tmp_path)
    assert assert_answers("postgres", lambda code: code.replace(SHOWN, f"{server.url}&")) >= 6


def test_commands_do_what_the_page_says(
    server: PrivateServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (content,) = blocks("postgres", "text")
    (tmp_path / "texts.txt").write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    shown = []
    for command in blocks("postgres", "sh")[0].splitlines():
        words = shlex.split(command.replace(SHOWN, f"{server.url}&"))
        assert run(words[1:]) == 0, command
        shown.append(capsys.readouterr().out)
    assert "3 texts" in shown[0]
    assert "river bank" in shown[1].splitlines()[1]
    assert "use" in shown[2]
    assert "use → minilm" in shown[3]
