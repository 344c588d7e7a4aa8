"""`malmoi tune extend`: what it prints, its JSON, and its errors."""

import json
from pathlib import Path

import pytest

from malmoi.cli import run
from tests.tune.extend.worlds import MEANINGS

PAIRS = "sentence1\tsentence2\tscore\n은행\tbank\t5.0\n강\tfish\t1.0\n물고기\tfish\t4.5\n"


@pytest.fixture
def vocabulary(tmp_path: Path) -> Path:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join([*MEANINGS, "##는", ""]))
    return path


def test_the_command_prints_counts_verdict_and_neighbours(
    model: str, vocabulary: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dev, out = tmp_path / "dev.tsv", tmp_path / "out"
    dev.write_text(PAIRS)
    words = ["--vocabulary", str(vocabulary), "--dev", str(dev), "--out", str(out)]
    assert run(["tune", "extend", "--model", model, *words]) == 0
    printed = capsys.readouterr().out
    assert f"{len(MEANINGS) + 1} from vocab.txt" in " ".join(printed.split())
    assert "dev: Spearman" in printed
    assert any(line.split()[:2] == ["은행", "bank"] for line in printed.splitlines())
    assert max(map(len, printed.splitlines()[2:])) <= 80
    card = (out / "README.md").read_text()
    assert f"malmoi tune extend --model {model} --out {out} --vocabulary {vocabulary}" in card


def test_the_command_prints_json(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("은행 강도\n물고기\n" * 9)
    words = ["--texts", str(texts), "--size", "30", "--out", str(tmp_path / "out"), "--json"]
    assert run(["tune", "extend", "--model", model, *words]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["written"] == str(tmp_path / "out")
    assert record["added"]["the texts"] > 0
    assert record["coverage"]["before"]["unknown_texts"] == 1.0
    assert record["coverage"]["after"]["unknown_texts"] == 0.0
    assert record["dev"] == []


def test_errors_are_one_sentence(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tune", "extend", "--model", model, "--out", str(tmp_path / "out")]) != 0
    assert "no source of new tokens" in capsys.readouterr().err
