"""`malmoi mine` and `malmoi evaluate --suite` on the command line."""

import json
from pathlib import Path

import pytest

import malmoi as mm
from malmoi.cli import run
from tests.evaluate.suite_data import beir, make_data, texts, write
from tests.evaluate.test_suite import vectors_file

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MALMOI_CACHE", str(tmp_path / "cache"))
    vectors_file(tmp_path)
    made = texts(40)
    rows = [f"{a}\t{b}" for a, b in zip(made[::2], made[1::2], strict=True)]
    Path("pairs.tsv").write_text("query\tanswer\n" + "\n".join(rows), encoding="utf-8")
    Path("corpus.txt").write_text("\n".join(texts(30, seed=9)), encoding="utf-8")


def test_negatives_are_written_and_counted(capsys: Output) -> None:
    words = ["mine", "pairs.tsv", "--corpus", "corpus.txt", "--model", "words.malmoi"]
    assert run([*words, "--out", "triplets.jsonl", "--with-scores", "--relative-margin", "0"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("triplets.jsonl: ")
    assert "candidates skipped: a positive of the query" in shown
    assert max(map(len, shown.splitlines())) <= 80
    rows = [json.loads(line) for line in Path("triplets.jsonl").read_text().splitlines()]
    assert rows[0].keys() == {
        *("anchor", "positive", "negative", "positive_score", "negative_score")
    }
    assert all(row["negative"] != row["positive"] for row in rows)


def test_an_index_is_searched_and_json_is_printed(capsys: Output) -> None:
    index = ["index", "corpus.txt", "--out", "index", "--model", "words.malmoi"]
    assert run(index) == 0
    capsys.readouterr()
    words = ["mine", "pairs.tsv", "--index", "index", "--out", "t.csv", "--with-margins", "--json"]
    assert run([*words, "--negatives", "1", "--columns", "query,answer"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record.keys() == {"written", "pairs", "triplets", "incomplete", "skipped"}
    assert record["pairs"] == 20
    header, *rows = Path("t.csv").read_text().splitlines()
    assert header == "anchor,positive,negative,margin"
    assert len(rows) == record["triplets"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "t.xlsx"], "t.xlsx must end in .jsonl, .csv, .tsv"),
        (["--out", "gone/t.csv"], "there is no folder gone"),
        (["--out", "t.csv", "--index", "i", "--corpus", "c"], "exclude each other"),
        (["--out", "t.csv", "--model", "words.malmoi", "--negatives", "0"], "negatives is 0"),
    ],
)
def test_mistakes_are_one_sentence(words: list[str], message: str, capsys: Output) -> None:
    assert run(["mine", "pairs.tsv", *words]) == 1
    assert message in capsys.readouterr().err


def test_a_suite_is_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    make_data(tmp_path / "data")
    monkeypatch.setenv("MALMOI_DATA", str(tmp_path / "data"))
    (tmp_path / "other").mkdir()
    other = vectors_file(tmp_path / "other", seed=4)
    words = ["evaluate", "words.malmoi", other, "--suite", "all", "--limit", "100"]
    assert run([*words, "--plot", "scores.svg"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "sentence similarity: cosine_spearman" in lines
    assert any(line.startswith("  TwentyNewsgroupsClustering") for line in lines)
    assert lines[-1] == "no data for: KorQuAD (korquad/*dev*.json*)"
    assert "words.malmoi" in Path("scores.svg").read_text()
    assert run([*words, "--json", "--no-cache"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["models"] == ["words.malmoi", other]
    first = record["rows"][0]
    assert first["task"] == "KorSTS"
    assert first["scores"][0].keys() == {"model", "value", "low", "high", "answered", "total"}
    assert first["differences"][0].keys() == {"model", "minus", "value", "low", "high", "verdict"}


def test_own_files_are_tasks(tmp_path: Path, capsys: Output) -> None:
    beir(tmp_path / "own")
    rows = "\n".join(f"{text},{i % 2}" for i, text in enumerate(texts(40)))
    write(tmp_path / "labels.csv", f"text,label\n{rows}")
    words = ["evaluate", "words.malmoi", "--retrieval", "own", "--classification", "labels.csv"]
    assert run([*words, "--clustering", "labels.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "retrieval: ndcg_at_10"
    assert lines[2].startswith("  own test queries")
    assert " … " in lines[2]
    assert "clustering: v_measure" in lines


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--suite", "ko"], "there are no tasks: pass some, or set MALMOI_DATA"),
        (["--plot", "a.svg"], "are for suites: add --suite"),
        (["--suite", "ko", "--typos"], "leave them out"),
        (["--suite", "ko", "--plot", "a.png"], "end its name in .svg"),
        (["--retrieval", "gone"], "gone"),
    ],
)
def test_mistakes_about_suites(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.delenv("MALMOI_DATA", raising=False)
    assert run(["evaluate", "words.malmoi", *words]) == 1
    assert message in capsys.readouterr().err


def test_vectors_are_loaded_by_name() -> None:
    assert mm.load_encoder("words.malmoi").dim == 5
