"""`malmoi compare`: several models after one option, and its report as a page."""

from importlib.resources import files
from pathlib import Path

import pytest

from malmoi.cli import run

MESSAGES = str(files("malmoi.cli.demo") / "messages.tsv")


@pytest.mark.parametrize("models", [["words", "majority"], ["words,majority"]])
def test_models_follow_one_option_and_the_report_is_a_page(
    models: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.html"
    words = ["compare", MESSAGES, "--models", *models, "--seeds", "1", "--out", str(out)]
    assert run(words) == 0
    shown = capsys.readouterr().out
    assert "Take words" in shown
    assert "open it in a browser" in shown.replace("\n    ", " ")
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert '"name": "majority"' in page


def test_a_report_that_cannot_be_written_is_noticed_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", MESSAGES, "--models", "words", "--out", str(tmp_path / "a.pdf")]) == 1
    captured = capsys.readouterr()
    assert "a.pdf is not a report: name it .html, .md or .json" in captured.err
    assert captured.out == ""
