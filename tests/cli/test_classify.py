"""`malmoi tune classify` and `malmoi classify`: a classifier from a file to labels."""

import json
from pathlib import Path

import pytest

from malmoi.cli import run
from tests.classify.worlds import labelled


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.tsv"
    path.write_text("\n".join(f"{a}\t{b}" for a, b in labelled(150)), encoding="utf-8")
    return path


@pytest.fixture
def model(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "model"
    assert run(["tune", "classify", str(data), "--out", str(path), "--threads", "1"]) == 0
    capsys.readouterr()
    return path


def test_training_prints_scores(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tune", "classify", str(data), "--test-share", "0.3", "--columns", "1,2"]) == 0
    shown = capsys.readouterr().out
    for part in ("accuracy", "macro-F1", "always the same label", "calibration error", "sport"):
        assert part in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_training_prints_json(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tune", "classify", str(data), "--json", "--max-n", "3"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["labels"] == ["food", "music", "sport"]
    assert record["accuracy"] > 0.5 > record["baseline"]


def test_texts_are_labelled(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["classify", str(model), "goal team match", "김치 국수", "--explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("goal team match ")
    assert " sport " in lines[0]
    assert "speaks for" in lines[1]
    assert max(map(len, lines)) <= 80


def test_a_file_is_labelled_as_json(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("goal team match\n김치 국수 요리\n", encoding="utf-8")
    assert run(["classify", str(model), "--file", str(texts), "--json", "-k", "2"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert [one["labels"][0]["label"] for one in records] == ["sport", "food"]
    assert len(records[0]["labels"]) == 2


def test_a_model_of_fasttext(lid_ftz: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["classify", str(lid_ftz), "이것은 한국어 문장입니다"]) == 0
    assert " ko " in capsys.readouterr().out


def test_inspect_describes_a_classifier(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", str(model)]) == 0
    shown = capsys.readouterr().out
    assert "food, music, sport" in shown
    assert "CRC-32" in shown


@pytest.mark.parametrize("words", [[], ["a", "--file", "b"], ["a", "-k", "0"]])
def test_wrong_usage_is_a_sentence(
    model: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["classify", str(model), *words]) == 1
    assert "malmoi: " in capsys.readouterr().err
