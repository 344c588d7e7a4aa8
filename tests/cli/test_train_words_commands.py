"""`malmoi train word2vec` and `train fasttext`: from text to files, and what is refused."""

import io
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import fasttext
import numpy as np
import pytest
from gensim.models.fasttext import load_facebook_model
from rich.cells import cell_len

from malmoi.cli import run
from malmoi.formats import load, save
from malmoi.hangul import split_jamo
from malmoi.reporting.progress_bar import ProgressBar
from malmoi.subwords import SubwordVectors
from malmoi.train.word2vec import trainer as word_learning
from malmoi.vectors import Vectors
from tests.train.worlds import lines

Output = pytest.CaptureFixture[str]
SMALL = ["--dim", "6", "--min-count", "1", "--epochs", "2", "--threads", "1"]
KOREAN = ["강아지가 공원에서 논다", "고양이는 창가에서 잔다", "은행에서 돈을 찾는다"] * 20

both = pytest.mark.parametrize("kind", ["word2vec", "fasttext"])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("\n".join(lines(60)))


def train(kind: str, out: str, *more: str, text: str = "text.txt") -> int:
    return run(["train", kind, text, "--out", out, *SMALL, *more])


def same(one: str, other: str) -> bool:
    """Whether two files hold the same, bit for bit; what is said of it may be in another order."""
    a, b = load(one), load(other)
    parts = [(a.matrix, b.matrix), (a.context_matrix, b.context_matrix)]
    if isinstance(a, SubwordVectors) and isinstance(b, SubwordVectors):
        parts += [(a.word_rows, b.word_rows), (a.bucket_rows, b.bucket_rows)]
    bits = all(x is not None and y is not None and x.tobytes() == y.tobytes() for x, y in parts)
    return bits and a.keys == b.keys and a.meta == b.meta


@both
@pytest.mark.parametrize("ending", ["malmoi", "vec", "txt", "bin", "vec.gz"])
def test_vectors_are_written_in_the_format_of_the_name(
    kind: str, ending: str, capsys: Output
) -> None:
    assert train(kind, f"out.{ending}", *(["--buckets", "500"] if kind == "fasttext" else [])) == 0
    told = capsys.readouterr()
    assert told.out.startswith(f"out.{ending}: 12 rows, 6 dim\nloss per epoch: ")
    assert "training takes less than 1 MB of memory" in told.err
    with_ngrams = kind == "fasttext" and ending in ("malmoi", "bin")
    assert ("cannot hold n-grams" in told.err) == (kind == "fasttext" and not with_ngrams)
    vectors = load(f"out.{ending}")
    assert (len(vectors), vectors.dim) == (12, 6)
    assert isinstance(vectors, SubwordVectors) == with_ngrams
    assert sorted(path.name for path in Path().glob("out*")) == [f"out.{ending}"]


@both
def test_what_was_made_as_json(kind: str, capsys: Output) -> None:
    assert train(kind, "out.malmoi", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told.pop("losses")) == 2
    assert told == {"written": "out.malmoi", "rows": 12, "dim": 6}


def test_of_many_losses_the_first_and_last_are_shown(capsys: Output) -> None:
    assert (
        run(["train", "word2vec", "text.txt", "--out", "x.vec", *SMALL[:4], "--epochs", "30"]) == 0
    )
    line = capsys.readouterr().out.splitlines()[-1]
    _, _, losses = line.partition("loss per epoch: ")
    assert len(losses.split()) == 9
    assert losses.split()[4] == "…"
    assert len(line) <= 80


@pytest.mark.parametrize("more", [["--architecture", "cbow"], ["--loss", "hierarchical-softmax"]])
@both
def test_every_way_of_learning_has_an_option(kind: str, more: list[str]) -> None:
    assert (
        train(kind, "out.malmoi", *more, "--no-shrink_windows", "--lower", "--subsample", "0") == 0
    )
    settings = json.loads(load("out.malmoi").meta["settings"])
    assert settings["shrink_windows"] is False
    assert settings[more[0].removeprefix("--")] == more[1]


@both
def test_text_may_come_from_standard_input(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Piped:
        buffer = io.BytesIO(Path("text.txt").read_bytes())

    assert train(kind, "file.malmoi") == 0
    monkeypatch.setattr("sys.stdin", Piped())
    assert train(kind, "piped.malmoi", text="-") == 0
    assert same("file.malmoi", "piped.malmoi")


def test_hangul_in_its_letters_is_put_together_and_counted(capsys: Output) -> None:
    for form in ("NFC", "NFD"):
        Path(f"{form}.txt").write_text(unicodedata.normalize(form, "\n".join(KOREAN)), "utf-8")
        assert train("fasttext", f"{form}.malmoi", "--units", "jamo", text=f"{form}.txt") == 0
    assert "decomposed into jamo (NFD): 580" in capsys.readouterr().err
    assert load("NFC.malmoi").matrix.tobytes() == load("NFD.malmoi").matrix.tobytes()
    typo = unicodedata.normalize("NFD", "강이지가")
    assert run(["neighbours", "NFD.malmoi", typo, "-k", "1"]) == 0
    told = capsys.readouterr()
    assert "강아지가" in told.out
    assert f"note: '{typo}' is not in the vectors; perhaps 강아지가 (" in told.err
    assert run(["similarity", "NFD.malmoi", "강아지가", "강아지가"]) == 0
    assert "perhaps" not in capsys.readouterr().err
    assert run(["similarity", "NFD.malmoi", typo, "강아지가", "--json"]) == 0
    taken = json.loads(capsys.readouterr().out)["read_as"]
    assert taken.keys() == {typo}
    assert 0.5 < taken[typo]["강아지가"] <= 1


def test_jamo_models_are_opened_by_fasttext_and_gensim() -> None:
    Path("korean.txt").write_text("\n".join(KOREAN), "utf-8")
    options = ["--units", "jamo", "--buckets", "3000"]
    for name in ("korean.malmoi", "korean.bin"):
        assert train("fasttext", name, *options, text="korean.txt") == 0
    ours, back = load("korean.malmoi"), load("korean.bin")
    theirs, gensims = fasttext.load_model("korean.bin"), load_facebook_model("korean.bin").wv
    for word in ours.keys:
        letters = split_jamo(word)
        for found in (theirs.get_word_vector(letters), gensims[letters], back[letters]):
            np.testing.assert_allclose(found, ours[word], atol=1e-6)
    typo = split_jamo("강이지가")  # theirs count n-grams that nobody learnt: the direction is ours
    for found in (theirs.get_word_vector(typo), gensims[typo]):
        wanted = ours["강이지가"]
        cosine = found @ wanted / np.linalg.norm(found) / np.linalg.norm(wanted)
        assert cosine == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(back[typo], ours["강이지가"], atol=1e-6)


@both
def test_frozen_vectors_do_not_move(kind: str) -> None:
    old = Vectors(["cat", "elsewhere", "iron"], np.arange(18.0).reshape(3, 6) / 18)
    save(old, "old.vec")
    assert train(kind, "new.malmoi", "--init-vectors", "old.vec", "--freeze") == 0
    new = load("new.malmoi")
    for word in ("cat", "iron"):
        assert new[word].tobytes() == load("old.vec")[word].tobytes()
    assert "elsewhere" not in new.keys
    assert train(kind, "moved.malmoi", "--init-vectors", "old.vec") == 0
    assert not np.array_equal(load("moved.malmoi")["cat"], new["cat"])


@both
def test_an_update_keeps_all_words(kind: str) -> None:
    assert train(kind, "old.malmoi") == 0
    Path("more.txt").write_text("the cat and the ferret\n" * 20)
    assert (
        train(kind, "new.malmoi", "--update", "old.malmoi", "--subsample", "0", text="more.txt")
        == 0
    )
    old, new = load("old.malmoi"), load("new.malmoi")
    assert set(new.keys) == {*old.keys, "the", "and", "ferret"}
    assert not np.array_equal(new["cat"], old["cat"])
    assert np.array_equal(new["gold"], old["gold"])
    assert train(kind, "old.malmoi", "--update", "old.malmoi") == 0  # in place


@both
def test_an_interrupted_training_is_resumed(
    kind: str, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_learning, "CHUNK_TOKENS", 50)
    assert train(kind, "whole.malmoi") == 0

    class Impatient(ProgressBar):
        def __call__(self, done: int, total: int) -> None:
            if self.name.startswith("training") and done > total / 2:
                raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("malmoi.reporting.progress_bar.ProgressBar", Impatient)
        assert train(kind, "out.malmoi") == 130
    assert "out.malmoi.checkpoint is kept: run the same command" in capsys.readouterr().err
    assert not Path("out.malmoi").exists()
    assert train(kind, "out.malmoi", "--resume", "--window", "3") == 1
    assert "is of a training with window 5, not 3" in capsys.readouterr().err
    assert train(kind, "out.malmoi", "--resume") == 0
    assert same("out.malmoi", "whole.malmoi")
    assert not Path("out.malmoi.checkpoint").exists()


WRONG: list[tuple[list[str], int, str]] = [
    (["--window", "0"], 1, "window is 0: it must be at least 1"),
    (["--dim", "0"], 1, "dim is 0: it must be at least 1"),
    (["--subsample", "-1"], 1, "subsample is -1.0: it must be a number of at least 0"),
    (["--subsample", "nan"], 1, "subsample is nan"),
    (["--min-count", "99999"], 1, "no word occurs 99,999 times"),
    (["--learning-rate", "1e-9"], 1, "of at least min_learning_rate"),
    (["--learning-rate", "1e9", "--subsample", "0"], 1, "lower learning_rate"),
    (["--ns-exponent", "400"], 1, "ns_exponent is 400.0: it must be from -10 to 10"),
    (["--seed", f"{2**64}"], 1, "from 0 to 2"),
    (["--resume"], 1, "there is no out.malmoi.checkpoint to resume from"),
    (["--freeze"], 1, "freeze needs init_vectors: give the vectors"),
    (["--init-vectors", "none.vec"], 1, "none.vec does not exist"),
    (
        ["--init-vectors", "text.txt", "--update", "text.txt"],
        1,
        "exclude each other: give one",
    ),
    (["--architecture", "cbowl"], 2, 'Choose from: "skip-gram", "cbow"'),
    (["--window", "wide"], 2, "--window"),
    (["--epoch", "3"], 2, "Did you mean --epochs?"),
    (["--tokenizer", "latin"], 1, "unknown tokenizer 'latin'"),
    (["--pattern", "x+"], 1, "--pattern is an option of --tokenizer regex"),
    (["--tokenizer", "english", "--tags"], 1, "--tags is an option of --tokenizer korean"),
    (["--field", "text"], 1, "text.txt is plain text, which has no field 'text'"),
]


@both
@pytest.mark.parametrize(("more", "code", "said"), WRONG)
def test_what_cannot_be_is_refused_in_one_sentence(
    kind: str, more: list[str], code: int, said: str, capsys: Output
) -> None:
    given = dict(zip(SMALL[::2], SMALL[1::2], strict=True))
    given |= {"--out": "out.malmoi"}
    options = [word for name, value in given.items() if name not in more for word in (name, value)]
    assert run(["train", kind, "text.txt", *options, *more]) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err.splitlines()[-1]
    assert [path.name for path in Path().glob("out*")] == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--units", "letter"], 'Choose from: "characters"'),
        (["--min-n", "5", "--max-n", "4"], "n-grams of 5 to 4 characters"),
        (["--buckets", "0"], "at least one bucket"),
        (["--units", "syllables", "--syllables", "0", "2"], "n-grams of 0 to 2 characters"),
    ],
)
def test_words_that_cannot_be_cut_so(more: list[str], said: str, capsys: Output) -> None:
    assert train("fasttext", "out.malmoi", *more) in (1, 2)
    assert said in capsys.readouterr().err


@both
@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("none/out.vec", "there is no folder none"),
        ("out.doc", "does not select a format"),
        ("out.malmoi.gz", "cannot be compressed"),
        ("folder.vec", "is a folder"),
        ("text.txt", "is the input text"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_training(
    kind: str, out: str, said: str, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("folder.vec").mkdir()
    text = Path("text.txt").read_bytes()

    def never(*_: Any, **__: Any) -> Vectors:
        raise AssertionError

    monkeypatch.setattr(f"malmoi.cli.train.{kind}.train_{kind}", never)
    assert train(kind, out) == 1
    assert said in capsys.readouterr().err
    assert Path("text.txt").read_bytes() == text


def test_units_that_a_format_cannot_keep_are_refused_before_the_training(capsys: Output) -> None:
    assert train("fasttext", "out.bin", "--units", "jamo+syllables") == 1
    told = capsys.readouterr().err
    assert "cannot hold n-grams of jamo+syllables" in told
    assert "training takes" not in told


@both
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("   \n\n \n", "is empty"),
        ("same same same same\n" * 9, "the vocabulary has a single word"),
        ("a\nb\nc\n" * 9, "no line keeps two words"),
    ],
)
def test_a_text_with_nothing_to_learn(kind: str, text: str, said: str, capsys: Output) -> None:
    Path("odd.txt").write_text(text)
    assert train(kind, "out.malmoi", text="odd.txt") == 1
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert not Path("out.malmoi").exists()


@pytest.mark.parametrize("kind", ["", "word2vec", "fasttext"])
def test_help_fits_a_terminal_and_explains_every_setting(
    kind: str, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["train", *[kind] * bool(kind), "--help"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert max(map(cell_len, told)) <= 80
    options = [line for line in told if re.match(r"│ (\*| ) +--", line)]
    unexplained = [line for line in options if re.search(r"--\S+( [A-Z.]+)*  +(\[|│)", line)]
    assert unexplained == []
