import json

import pytest

from malmoi.cli import FAILED, run

pytest.importorskip("onnxruntime")
SENTENCE = "Here is the sentence I want embeddings for."
TOKENS = "[CLS] here is the sentence i want em ##bed ##ding ##s for . [SEP]"


def test_a_model_says_how_it_sees_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tokenize", SENTENCE, "--model", "minilm", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [row["token"] for row in printed["tokens"]] == TOKENS.split()
    assert [row["id"] for row in printed["tokens"]][:4] == [101, 2182, 2003, 1996]
    embeddings = [row for row in printed["tokens"] if row["word"] == 6]
    assert [row["characters"] for row in embeddings] == ["28–30", "30–33", "33–37", "37–38"]
    assert printed["tokens"][0]["word"] is None


def test_a_pair_has_two_token_types(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tokenize", "A man.", "He runs.", "--model", "minilm", "--pair", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["tokens"]
    assert [row["type"] for row in rows] == [0] * 5 + [1] * 4


def test_the_table_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tokenize", SENTENCE, "--model", "minilm"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["token", "id", "type", "word", "characters"]
    assert lines[1].split() == ["[CLS]", "101", "0"]
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("words", [["a", "b", "--pair"], ["a", "--model", "minilm", "--pair"]])
def test_a_pair_is_two_texts_for_a_model(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tokenize", *words]) == FAILED
    assert "--pair needs a --model and two texts" in capsys.readouterr().err
