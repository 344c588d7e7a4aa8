import json
import unicodedata
from pathlib import Path

import pytest

from malmoi.cli import run

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown tokens")  # Korean for English models

Output = pytest.CaptureFixture[str]
MINILM = ["--model", "minilm"]
BANK = (
    "After stealing money from the bank vault, the bank robber was seen fishing on the"
    " Mississippi river bank."
)
SENSES = "At the bank.\tmoney\nThe bank pays.\tmoney\nA river bank.\triver\nBank and bank.\triver\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts.txt").write_text(f"{BANK}\nno such word\nA bank.\n", encoding="utf-8")
    Path("senses.tsv").write_text(SENSES, encoding="utf-8")


def columns(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)


def test_the_matrix_of_the_bank_sentence(capsys: Output) -> None:
    assert run(["context", "bank", BANK, *MINILM]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["bank:", "3", "times", "1", "2", "3"]
    numbers = [[float(number) for number in line.split()[-3:]] for line in lines]
    assert numbers[0][1] > numbers[1][2], "vault and robber, robber and river"
    assert numbers[0][0] == numbers[1][1] == 1
    assert max(map(columns, [head, *lines])) <= 80


def test_files_and_texts_together_and_many_occurrences(capsys: Output) -> None:
    korean = "한국어로 된 아주 긴 낱말이 앞뒤로 많이 있는 bank 그리고 또 다른 낱말들이 있다"
    assert run(["context", "bank", "texts.txt", "bank " * 3, korean, *MINILM]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["bank:", "8", "times", "most", "similar"]
    assert len(lines) == 9
    assert max(map(columns, lines)) <= 80
    assert all(line.split()[0] == str(i) for i, line in enumerate(lines[1:], 1))


def test_json_is_complete(capsys: Output) -> None:
    assert run(["context", "Bank", "texts.txt", "--layers", "-2", *MINILM, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [one["text"] for one in record["occurrences"]] == [0, 0, 0, 2]
    assert [one["begin"] for one in record["occurrences"]] == [30, 46, 100, 2]
    assert {len(one["vector"]) for one in record["occurrences"]} == {384}
    assert [len(row) for row in record["similarity"]] == [4] * 4


def test_pictures(capsys: Output) -> None:
    plots = ["--plot", "near.svg", "--histogram", "values.svg"]
    assert run(["context", "bank", BANK, "--layers", "5", *MINILM, *plots]) == 0
    assert "river [bank]" in Path("near.svg").read_text(encoding="utf-8")
    assert "1,152 numbers" in Path("values.svg").read_text(encoding="utf-8")


def test_senses_by_layer(capsys: Output) -> None:
    assert run(["context", "bank", "--senses", "senses.tsv", *MINILM]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("bank: 5 occurrences")
    assert [line.split()[0] for line in lines[2:]] == [*map(str, range(7))]
    assert sum("*" in line for line in lines[2:]) == 1
    assert max(map(columns, lines)) <= 80
    assert run(["context", "bank", "--senses", "senses.tsv", *MINILM, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    best = max(record["layers"], key=lambda one: one["silhouette"])
    assert record["best"] == best["layer"]
    assert best["gap"] == pytest.approx(best["within"] - best["between"])


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["bnak", BANK, *MINILM], 1, "'bnak' is not in the text; did you mean bank?"),
        (["bank", "none.txt", *MINILM], 1, "none.txt does not exist"),
        (["bank", *MINILM], 1, "pass texts or files to search"),
        (["bank", BANK, "--senses", "senses.tsv", *MINILM], 1, "pass texts or files"),
        (
            ["bank", "--senses", "senses.tsv", "--layers", "3", *MINILM],
            1,
            "--senses compares all layers",
        ),
        (["bank", "--senses", "texts.txt", *MINILM], 1, "texts.txt:1: "),
        (["bank", BANK, "--layers", "9", *MINILM], 1, "there is no layer 9"),
        (["bank", BANK, "--plot", "near.png", *MINILM], 1, "end its name in .svg"),
        (["bank", BANK, "--model", "use"], 1, "use has no layers"),
        (["bank", BANK, "--model", "nobody"], 1, "there is no model 'nobody'"),
        (["bank", BANK, "--word-pooling", "max", *MINILM], 2, "max"),
    ],
)
def test_what_goes_wrong_is_one_sentence(
    words: list[str], code: int, message: str, capsys: Output
) -> None:
    assert run(["context", *words]) == code
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1
