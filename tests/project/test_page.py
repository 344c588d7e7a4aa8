"""What docs/projector.md shows is executed, with the file it shows, in an empty folder."""

import shlex
from pathlib import Path

import pytest

from malmoi.cli import run
from tests.pages import DOCS, blocks


def test_commands_do_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (content,) = blocks("projector", "text")
    (tmp_path / "bank.txt").write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    words, bank = (line for block in blocks("projector", "sh") for line in block.splitlines())
    assert run([*shlex.split(words)[1:], "--method", "pca"]) == 0  # the rest is tested elsewhere
    assert run(shlex.split(bank)[1:]) == 0
    assert (tmp_path / "words.html").stat().st_size > 100_000
    assert (tmp_path / "bank.html").exists()
    assert "8 points" in capsys.readouterr().out


def test_pictures_are_small() -> None:
    for name in ("words", "bank", "questions", "search"):
        assert 10_000 < (DOCS / f"projector-{name}.png").stat().st_size < 200_000
