"""`malmoi demo classify`: a tour that needs no download, within 80 columns."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from malmoi.cli import run
from malmoi.cli.demo import classify
from malmoi.cli.shared.text_width import columns

LABELS = {"ad", "other"}


def bundled() -> list[tuple[str, str]]:
    text = (files("malmoi.cli.demo") / classify.MESSAGES).read_text(encoding="utf-8")
    rows = [tuple(line.split("\t")) for line in text.splitlines()[1:]]
    return [(row[0], row[1]) for row in rows]


def test_the_messages_are_distinct_and_balanced() -> None:
    rows = bundled()
    assert len({text for text, _ in rows}) == len(rows) == 240
    assert {label: sum(one == label for _, one in rows) for label in LABELS} == {
        "ad": 120,
        "other": 120,
    }
    assert sum(text.isascii() for text, _ in rows) == 120


def test_the_tour_fits_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MALMOI_DATA", raising=False)
    assert run(["demo", "classify"]) == 0
    shown = capsys.readouterr().out
    assert max(columns(line) for line in shown.splitlines()) <= 80
    assert all(name in shown for name in classify.BUNDLED_MODELS)
    assert "Take " in shown
    assert shown.count("because of") == 3
    assert "malmoi compare" in shown


def test_a_table_of_ones_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classify, "MODELS", ("majority", "words"))
    lines = "".join(f"{label},{text.replace(',', ' ')}\n" for text, label in bundled())
    (tmp_path / "spam").mkdir()
    (tmp_path / "spam" / "spam.csv").write_text(f"kind,message\n{lines}", encoding="utf-8")
    monkeypatch.setenv("MALMOI_DATA", str(tmp_path))
    assert run(["demo", "classify", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["comparison"]["data"] == "spam"
    assert [one["name"] for one in shown["comparison"]["models"]] == ["words", "majority"]
    assert [one["label"] in LABELS for one in shown["messages"]] == [True] * 3
    assert run(["demo", "classify", "--data", str(tmp_path / "none.csv")]) == 1
    assert "none.csv" in capsys.readouterr().err


def test_the_tour_of_vectors_is_still_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "Query 400,000 word vectors" in shown
    assert "classify" in shown
    assert run(["demo", "nothing"]) == 2
