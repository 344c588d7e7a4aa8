import json
from pathlib import Path

import pytest

from malmoi.cli import run
from malmoi.formats import load
from malmoi.models.ngram_files import load_ngram
from malmoi.models.nnlm_model import load_nnlm
from malmoi.reporting.progress_bar import ProgressBar
from malmoi.text.corpus import Corpus
from malmoi.text.word_list import load_words

Output = pytest.CaptureFixture[str]
SAM = "I am Sam\nSam I am\nI do not like green eggs and ham\n"


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "sam.txt"
    path.write_text(SAM)
    return str(path)


def test_tokenize_by_name(capsys: Output) -> None:
    assert run(["tokenize", "나는 먹었다", "--tokenizer", "korean", "--tags"]) == 0
    assert capsys.readouterr().out == "나/NP 는/JX 먹/VV 었/EP 다/EF\n"
    assert run(["tokenize", "강아지", "--tokenizer", "jamo", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tokens"] == list("ㄱㅏㅇㅇㅏ∅ㅈㅣ∅")


def test_tokenize_a_file_made_uniform(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "t.txt"
    path.write_text("SOOO Good\nㅋㅋㅋㅋ\n", encoding="utf-8")
    assert run(["tokenize", "--file", str(path), "--lower", "--repeats", "2"]) == 0
    assert capsys.readouterr().out == "soo good\nㅋㅋ\n"


def test_vocab_shows_the_most_frequent_and_writes_all(
    corpus: str, tmp_path: Path, capsys: Output
) -> None:
    out = tmp_path / "words.txt"
    assert run(["vocab", corpus, "-k", "2", "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["most_frequent"] == {"I": 3, "Sam": 2}
    words = load_words(out)
    assert (len(words), words.count("I"), words.id("I")) == (10, 3, 0)


def test_train_an_ngram_model_and_let_it_speak(corpus: str, tmp_path: Path, capsys: Output) -> None:
    out = tmp_path / "sam.arpa"
    assert (
        run(["train", "ngram", corpus, "--out", str(out), "--order", "2", "--smoothing", "none"])
        == 0
    )
    assert load_ngram(out).probability("I", ["<s>"]) == pytest.approx(2 / 3)
    capsys.readouterr()
    assert run(["generate", str(out), "--start", "I do", "-n", "1", "--json"]) == 0
    spoken = json.loads(capsys.readouterr().out)
    assert spoken == [["I", "do", "not", "like", "green", "eggs", "and", "ham"]]


def test_train_a_neural_model_and_take_its_vectors(corpus: str, tmp_path: Path) -> None:
    out, table = tmp_path / "sam.nnlm", tmp_path / "sam.malmoi"
    command = ["train", "nnlm", corpus, "--out", str(out), "--vectors", str(table)]
    assert run([*command, "--dim", "8", "--hidden", "8", "--epochs", "2"]) == 0
    assert load_nnlm(out).next_words(["I"], k=1)
    assert load(table)["Sam"].shape == (8,)


def test_a_neural_model_speaks_as_an_ngram_model_does(
    corpus: str, tmp_path: Path, capsys: Output
) -> None:
    out = tmp_path / "sam.nnlm"
    sizes = ["--dim", "8", "--hidden", "8", "--epochs", "1"]
    assert run(["train", "nnlm", corpus, "--out", str(out), *sizes]) == 0
    capsys.readouterr()
    asked = ["generate", str(out), "--start", "I do", "-n", "2", "--words", "6", "--seed", "4"]
    assert run([*asked, "--json"]) == 0
    spoken = json.loads(capsys.readouterr().out)
    assert [sentence[:2] for sentence in spoken] == [["I", "do"], ["I", "do"]]
    assert run(asked) == 0
    assert capsys.readouterr().out.splitlines() == [" ".join(sentence) for sentence in spoken]


def test_an_interrupted_training_is_resumed(
    corpus: str, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, out, left = (tmp_path / name for name in ("whole", "sam.nnlm", "sam.nnlm.checkpoint"))
    command = ["train", "nnlm", corpus, "--dim", "8", "--hidden", "8", "--batch-size", "4"]
    assert run([*command, "--out", str(whole)]) == 0

    class Impatient(ProgressBar):
        def __call__(self, done: int, total: int) -> None:
            if self.name.startswith("training") and done > total / 2:
                raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("malmoi.reporting.progress_bar.ProgressBar", Impatient)
        assert run([*command, "--out", str(out)]) == 130
    assert f"{left} is kept: run the same command with --resume" in capsys.readouterr().err
    assert left.exists()
    assert not out.exists()
    assert run([*command, "--out", str(out), "--resume", "--seed", "2"]) == 1
    assert "is of a training with seed 1, not 2" in capsys.readouterr().err
    assert run([*command, "--out", str(out), "--resume"]) == 0
    assert load_nnlm(out).perplexity([["Sam"]]) == load_nnlm(whole).perplexity([["Sam"]])
    assert not left.exists()
    assert run([*command, "--out", str(out), "--resume"]) == 1
    assert f"there is no {left} to resume from" in capsys.readouterr().err


def test_a_training_that_begins_anew_replaces_what_is_left_over(
    corpus: str, tmp_path: Path, capsys: Output
) -> None:
    out, left = tmp_path / "sam.nnlm", tmp_path / "sam.nnlm.checkpoint"
    left.write_bytes(b"of something else")
    command = ["train", "nnlm", corpus, "--out", str(out), "--dim", "8", "--hidden", "8"]
    assert run([*command, "--epochs", "1"]) == 0
    assert f"note: {left} is left over" in capsys.readouterr().err
    assert not left.exists()


def test_train_vectors_from_counts(tmp_path: Path) -> None:
    path, out = tmp_path / "text.txt", tmp_path / "lsa.malmoi"
    path.write_text("ice is solid water\nsteam is water gas\n" * 20)
    assert run(["train", "lsa", str(path), "--out", str(out), "--dim", "3"]) == 0
    vectors = load(out)
    assert vectors.dim == 3
    assert "whitespace" in vectors.meta["tokenizer"]


def test_probabilities_and_their_ratio(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "text.txt"
    path.write_text("ice solid\nice solid\nice water\nsteam gas\nsteam water\n")
    command = ["cooccur", str(path), "--words", "ice,steam", "--contexts", "solid,gas,water"]
    assert run([*command, "--weighting", "flat", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    ice, steam, ratio = table.values()
    assert ice["solid"] == pytest.approx(2 / 3)
    assert steam["gas"] == pytest.approx(1 / 2)
    assert ratio["water"] == pytest.approx((1 / 3) / (1 / 2))
    assert run(command) == 0
    assert "solid" in capsys.readouterr().out.splitlines()[0]


@pytest.mark.parametrize(
    "command",
    [
        ["train", "ngram", "{corpus}", "--out", "{place}"],
        ["train", "nnlm", "{corpus}", "--out", "{place}"],
        ["train", "nnlm", "{corpus}", "--out", "x.nnlm", "--vectors", "{place}"],
        ["train", "lsa", "{corpus}", "--out", "{place}"],
        ["train", "glove", "{corpus}", "--out", "{place}"],
        ["vocab", "{corpus}", "--out", "{place}"],
        ["cooccur", "{corpus}", "--out", "{place}"],
    ],
)
def test_the_text_itself_is_not_written_over_and_a_missing_folder_is_told_before_work(
    command: list[str], corpus: str, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Corpus, "blocks", None)  # nothing is read
    for place, said in ((corpus, "is the input text"), ("none/x.txt", "there is no folder none")):
        assert run([word.format(corpus=corpus, place=place) for word in command]) == 1
        err = capsys.readouterr().err
        assert said in err
        assert err.count("\n") == 1
    assert Path(corpus).read_text() == SAM
    assert [path.name for path in tmp_path.iterdir()] == ["sam.txt"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["vocab", "{corpus}", "--min-count", "9"], "occurs 3 times"),
        (["vocab", "missing.txt"], "does not exist"),
        (["vocab", "{corpus}", "--encoding", "klingon"], "unknown encoding 'klingon'"),
        (["tokenize", "a", "--tokenizer", "martian"], "choose one of whitespace"),
        (["tokenize"], "give texts"),
        (
            ["cooccur", "{corpus}", "--words", "I,am", "--contexts", "Sam", "--window", "0"],
            "window",
        ),
        (["train", "ngram", "{corpus}", "--out", "x.arpa", "--order", "0"], "order"),
        (["generate", "{corpus}"], "sam.txt is not a language model: give an ARPA file"),
    ],
)
def test_bad_input_is_one_sentence(
    command: list[str], message: str, corpus: str, capsys: Output
) -> None:
    assert run([word.format(corpus=corpus) for word in command]) in (1, 2)
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
