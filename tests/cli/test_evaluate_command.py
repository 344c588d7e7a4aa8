import json
import unicodedata
from pathlib import Path

import pytest

from malmoi.cli import run
from malmoi.formats import save
from tests.evaluate.sets import ANALOGIES, DOUBTFUL, PAIRS, animals, pieces
from tests.query.worlds import capitals

Output = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(animals(), tmp_path / "animals.malmoi")
    save(capitals(), tmp_path / "capitals.malmoi")
    (tmp_path / "pairs.tsv").write_text(PAIRS)
    (tmp_path / "analogies.txt").write_text(ANALOGIES)
    return tmp_path


def evaluate(folder: Path, *words: str) -> int:
    files = ["--file", str(folder / "pairs.tsv"), "--file", str(folder / "analogies.txt")]
    models = [str(folder / word) if "." in word else word for word in words]
    return run(["evaluate", *models, *files])


def columns(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)


def test_one_model(folder: Path, capsys: Output) -> None:
    assert evaluate(folder, "animals.malmoi", "--typos", "--sections") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["animals.malmoi", "score", "95", "%", "answered"]
    assert lines[1] == "word similarity, Spearman"
    assert lines[2].split()[0] == "pairs"
    assert lines[2].endswith("5/5")
    assert lines[4].endswith("0/10 words")
    assert "—" in lines[6], "analogies of words that are not there"
    assert [line.split()[0] for line in lines[7:]] == [
        "semantic",
        "syntactic",
        "capitals",
        "gram1-plural",
    ]
    assert max(map(columns, lines)) <= 80


def test_several_models_side_by_side(folder: Path, capsys: Output) -> None:
    save(capitals(), folder / "한국어로 된 아주 긴 이름의 벡터.malmoi")
    models = ["animals.malmoi", "capitals.malmoi", "한국어로 된 아주 긴 이름의 벡터.malmoi"]
    assert evaluate(folder, *models, "animals.malmoi") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["animals.malmoi", "capitals.malmoi"]
    assert "…" in lines[0]
    assert max(map(columns, lines)) <= 80
    (row,) = [line for line in lines[:7] if line.startswith("    semantic")]
    assert " ".join(row.split()) == "semantic — 0% 1.000 ±0.329 100% 1.000 ±0.329 100%"
    assert sum(line.startswith("word similarity") for line in lines) == 2, "the fourth model below"


def test_words_built_from_ngrams_are_told(folder: Path, capsys: Output) -> None:
    save(pieces(), folder / "pieces.bin")
    (folder / "pairs.tsv").write_text(PAIRS + "cats\tdogs\t8\n")
    assert evaluate(folder, "pieces.bin") == 0
    assert "6/6, 1 by n-grams" in capsys.readouterr().out


def test_json_is_complete(folder: Path, capsys: Output) -> None:
    assert evaluate(folder, "animals.malmoi", "capitals.malmoi", "--typos", "--json") == 0
    one, other = json.loads(capsys.readouterr().out)
    assert one["model"].endswith("animals.malmoi")
    assert one["similarity"][0]["spearman"].keys() == {"value", "low", "high", "answered", "total"}
    assert one["similarity"][0]["unknown"] == []
    assert one["typos"][0]["unanswered"] == 10
    analogies = other["analogies"][0]
    assert (analogies["name"], analogies["method"]) == ("analogies", "add")
    assert analogies["semantic"]["value"] == 1
    assert analogies["total"]["total"] == 4
    assert [part["correct"] for part in analogies["sections"]] == [2, 0]


@pytest.mark.parametrize("option", ["--restrict-vocab"])
def test_restricted(folder: Path, option: str, capsys: Output) -> None:
    assert evaluate(folder, "animals.malmoi", option, "3") == 0
    assert "2/5" in capsys.readouterr().out
    assert evaluate(folder, "animals.malmoi", option, "0") == 1
    assert "restrict_vocab must be at least 1; got 0" in capsys.readouterr().err


def test_exit_codes(folder: Path, capsys: Output) -> None:
    model = str(folder / "animals.malmoi")
    assert run(["evaluate"]) == 2
    assert run(["evaluate", model, "--method", "divide"]) == 2
    assert run(["evaluate", model, "--file", str(folder / "none.txt")]) == 1
    assert run(["evaluate", str(folder / "none.vec"), "--file", str(folder / "pairs.tsv")]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 4
    assert all(line.startswith("malmoi: ") for line in errors)


def test_a_seed_changes_intervals_alone(folder: Path, capsys: Output) -> None:
    (folder / "pairs.tsv").write_text(DOUBTFUL)
    said = []
    for seed in ("0", "1"):
        assert evaluate(folder, "animals.malmoi", "--json", "--seed", seed) == 0
        said.append(json.loads(capsys.readouterr().out)[0]["similarity"][0]["spearman"])
    assert said[0]["value"] == said[1]["value"]
    assert said[0] != said[1]
    assert evaluate(folder, "animals.malmoi", "--seed", "-1") == 1
    assert capsys.readouterr().err == "malmoi: seed must be at least 0; got -1\n"
