import json
from pathlib import Path

import pytest

from malmoi.cli import run
from malmoi.cli.demo import sentences as demo_texts
from malmoi.errors import MissingDependencyError

Output = pytest.CaptureFixture[str]
CSV = """A man is playing the guitar.,Somebody plays an instrument.,3.8
"Two dogs run, barking.",Dogs are running.,4.1
A plane lands.,A woman slices onions.,0.0
Prices fell on Monday.,The market lost value.,3.5
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text(CSV, encoding="utf-8")
    Path("same.csv").write_text("a b,c d,4\ne f,g h,4\n", encoding="utf-8")
    Path("wide.csv").write_text("x,first,second,people\n1,a b,c d,4\n2,e f,g h,1\n")


def test_an_encoder_is_tested_on_sentences(capsys: Output) -> None:
    assert run(["evaluate", "minilm", "--file", "pairs.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "sentence similarity, Spearman"
    assert lines[2].split()[0] == "pairs"
    assert lines[2].endswith("4/4")
    assert lines[3] == "the same, Pearson"
    assert max(map(len, lines)) <= 80


def test_word_vectors_are_averaged_where_asked(capsys: Output) -> None:
    words = ["evaluate", "minilm", "glove-6b-50d", "--sentences", "--file", "pairs.csv"]
    assert run([*words, "--json"]) == 0
    one, other = json.loads(capsys.readouterr().out)
    assert (one["model"], other["model"]) == ("minilm", "glove-6b-50d")
    for record in (one, other):
        (found,) = record["sentences"]
        assert found["spearman"].keys() == {"value", "low", "high", "answered", "total"}
        assert found["pearson"]["value"] > 0.8


def test_texts_given_as_words_are_told(capsys: Output) -> None:
    assert run(["evaluate", "glove-6b-50d", "--file", "same.csv"]) == 0
    assert "same holds texts, not words: use --sentences" in capsys.readouterr().err


def test_columns_are_told(capsys: Output) -> None:
    columns = ["--columns", "first, second, people"]
    assert run(["evaluate", "minilm", "--file", "wide.csv", *columns]) == 0
    assert "2/2" in capsys.readouterr().out


def test_no_correlation_is_said_and_not_nan(capsys: Output) -> None:
    assert run(["evaluate", "minilm", "--file", "same.csv"]) == 0
    shown = capsys.readouterr()
    assert "all human scores are 4: the correlation is undefined" in shown.err
    assert "—" in shown.out
    assert "nan" not in shown.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["minilm", "--file", "none.csv"], "none.csv does not exist"),
        (["minilm", "--file", "wide.csv"], "the score in wide.csv are ambiguous"),
        (["minilm", "--file", "pairs.csv", "--typos"], "minilm is tested on texts"),
        (["minilm", "glove-6b-50d", "--file", "pairs.csv"], "leave --file out"),
        (["glove-6b-50d", "--columns", "a,b,c"], "--columns is for texts"),
        (["some/where", "--file", "pairs.csv"], "there is no folder some/where"),
    ],
)
def test_what_goes_wrong_is_one_sentence(words: list[str], said: str, capsys: Output) -> None:
    assert run(["evaluate", *words]) == 1
    errors = capsys.readouterr().err
    assert said in errors
    assert errors.count("\n") == 1


def test_the_demo_compares_sentences_in_both_languages(capsys: Output) -> None:
    found = demo_texts.show_sentences(print)
    assert "bank: 3 times" in capsys.readouterr().out
    for model, sentences in demo_texts.SENTENCES.items():
        scores = found[model]
        assert min(scores, key=lambda text: scores[text]) == sentences[-1]
    assert found["bank"][0][1] > found["bank"][1][2]


def test_the_demo_leaves_out_what_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    def missing(*_: object) -> list[float]:
        raise MissingDependencyError("it is not installed")

    monkeypatch.setattr(demo_texts, "similar", missing)
    assert demo_texts.show_sentences(print) == {}
    assert capsys.readouterr().out.count("skipped: it is not installed") == 2
