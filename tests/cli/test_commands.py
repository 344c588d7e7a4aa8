import gzip
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from malmoi.cli import run
from malmoi.formats import load, save
from malmoi.vectors import Vectors
from tests.query.worlds import capitals


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "capitals.malmoi"
    save(capitals(), path)
    return str(path)


Output = pytest.CaptureFixture[str]


def test_neighbours_of_several_words(model: str, capsys: Output) -> None:
    assert run(["neighbours", model, "한국", "new york", "-k", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ["한국", "new york"]
    assert len(lines) == 6


def test_neighbours_as_json(model: str, capsys: Output) -> None:
    assert run(["neighbours", model, "한국", "-k", "1", "--metric", "euclidean", "--json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)
    nearest = [{"key": "서울", "score": 1.0}]
    assert answer == {"query": "한국", "read_as": {}, "neighbours": nearest}


@pytest.mark.parametrize("method", ["add", "multiply"])
def test_analogy(model: str, method: str, capsys: Output) -> None:
    command = ["analogy", model, "한국 - 서울 + 도쿄", "--method", method, "-k", "1", "--json"]
    assert run(command) == 0
    assert json.loads(capsys.readouterr().out)["answers"][0]["key"] == "일본"


def test_similarity_and_rank(model: str, capsys: Output) -> None:
    assert run(["similarity", model, "한국", "한국"]) == 0
    assert capsys.readouterr().out == "1.0000\n"  # and no rank
    assert run(["similarity", model, "한국", "서울", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rank"] == 1


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("neighbours", "MODEL is missing (see malmoi neighbours --help)"),
        ("train word2vec text.txt", "--out is missing (see malmoi train word2vec --help)"),
        ("vocab text.txt -k", "-k needs a value (see malmoi vocab --help)"),
        (
            "train fasttext a --out b --syllables 1",
            'Command "train fasttext" parameter --syllables requires 2 positional arguments.'
            " Only got 1 (see malmoi train fasttext --help)",
        ),
        (
            "neighbors a b",
            'Unknown command "neighbors". Did you mean "neighbours"? (see malmoi --help)',
        ),
    ],
)
def test_wrong_usage_is_one_sentence_that_says_where_to_look(
    command: str, said: str, capsys: Output
) -> None:
    assert run(command.split()) == 2
    assert capsys.readouterr().err == f"malmoi: {said}\n"


def test_help_shows_defaults_that_say_something(capsys: Output) -> None:
    assert run(["train", "fasttext", "--help"]) == 0
    help = capsys.readouterr().out
    assert "[default: (1, 4)]" in " ".join(help.replace("│", " ").split())
    assert "()" not in help
    assert "False" not in help


@pytest.mark.parametrize("name", ["minilm", "minilm:int8", "minilm:quantized", "use"])
def test_an_encoder_has_no_words_to_ask_for(name: str, capsys: Output) -> None:
    assert run(["neighbours", name, "cat"]) == 1
    assert f"{name} is a text encoder without word vectors" in capsys.readouterr().err


def test_odd_one_out(model: str, capsys: Output) -> None:
    assert run(["odd-one-out", model, "한국", "일본", "사과"]) == 0
    assert capsys.readouterr().out == "사과\n"
    assert run(["odd-one-out", model, "한국", "일본", "사과", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["odd"] == "사과"


def test_convert_there_and_back(model: str, tmp_path: Path, capsys: Output) -> None:
    text, back = tmp_path / "out.txt.gz", tmp_path / "back.malmoi"
    assert run(["convert", model, str(text)]) == 0
    assert run(["convert", str(text), str(back), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.split("\n", 1)[1])["rows"] == len(capitals())
    assert gzip.decompress(text.read_bytes()).startswith("한국 1 0 0.2\n".encode())
    np.testing.assert_array_equal(load(back).matrix, capitals().matrix)


def test_convert_only_some_words_normalised(model: str, tmp_path: Path, capsys: Output) -> None:
    wanted, out = tmp_path / "wanted.txt", tmp_path / "few.vec"
    wanted.write_text("서울\n없는말\n사과\n", encoding="utf-8")
    assert run(["convert", model, str(out), "--only", str(wanted), "--normalize"]) == 0
    assert f"words that are not in {model}: 1, such as '없는말'" in capsys.readouterr().err
    few = load(out)
    assert list(few.keys) == ["서울", "사과"]
    np.testing.assert_allclose(few.norms, 1, atol=1e-6)


def test_inspect_says_what_is_wrong_and_what_to_do(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a longer path would be broken at the end of a line
    path = Path("odd.txt")
    decomposed = "\u1112\u1161\u11ab"  # 한 in its letters
    path.write_bytes(
        f"a 1 2\na 3 4\nb nan 1\nc 1\nzero 0 0\n{decomposed} 1 1\n".encode() + b"\xff\xfe 2 2\n"
    )
    assert run(["inspect", str(path)]) == 0
    out = capsys.readouterr().out
    for expected in (
        "malformed rows: 1",
        "rows with nan or inf: 1",
        "repeated keys: 1",
        "keys that are not UTF-8: 1",
        "keys not in NFC: 1",
        "rows of zeros: 1",
        "odd.txt:4",
        "--skip-bad-rows",
        "--nfc",
    ):
        assert expected in out
    assert run(["inspect", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 4


def test_inspect_a_sound_file(model: str, capsys: Output) -> None:
    assert run(["inspect", model]) == 0
    assert capsys.readouterr().out.endswith("no problems\n")


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (["neighbours", "{model}", "없는말"], 1, "'없는말' is not in the vectors"),
        (["neighbours", "missing.txt", "a"], 1, "missing.txt does not exist"),
        (["neighbours", "glove", "a"], 1, "glove does not exist; did you mean glove-6b-50d?"),
        (["vocab", "none.csv", "--field", "a", "--out", "v.tsv"], 1, "none.csv does not exist"),
        (["neighbours", "{model}"], 2, "WORDS"),
        (["neighbours", "{model}", "한국", "--metric", "x"], 2, "cosine"),
        (["analogy", "{model}", "한국 +"], 1, "is not an expression"),
        (["convert", "{model}", "x.unknown"], 1, "does not select a format"),
        (["convert", "{model}", "{folder}/no/x.txt"], 1, "there is no folder"),
        (["convert", "{model}", "{folder}/x.bin"], 1, "cannot hold the key 'new york'"),
        (["inspect", "{model}", "--encoding", "klingon"], 1, "unknown encoding 'klingon'"),
        (["dance"], 2, "dance"),
    ],
)
def test_errors_are_one_sentence_and_a_code(
    model: str, tmp_path: Path, capsys: Output, command: list[str], code: int, message: str
) -> None:
    words = [word.format(model=model, folder=tmp_path) for word in command]
    assert run(words) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.startswith("malmoi: ")
    assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["capitals.malmoi"]


def test_what_was_repaired_is_noted_on_stderr(tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "twice.txt"
    path.write_text("a 1 2\nb 2 1\na 3 4\n")
    assert run(["neighbours", str(path), "a"]) == 0
    assert "note: " in capsys.readouterr().err


def test_keys_that_are_not_utf8_can_be_printed(tmp_path: Path) -> None:
    path = tmp_path / "bytes.txt"
    path.write_bytes(b"a 1 2\n\xff 2 1\n")
    command = [sys.executable, "-m", "malmoi", "neighbours", str(path), "a"]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "LC_ALL": "C"})
    assert done.returncode == 0
    assert b"\\udcff" in done.stdout


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
def test_being_stopped_leaves_nothing_half_written(tmp_path: Path, told: signal.Signals) -> None:
    path, out = tmp_path / "large.npy", tmp_path / "out"
    out.mkdir()
    numbers = np.random.default_rng(0).standard_normal((60_000, 100))
    save(Vectors([f"w{i}" for i in range(len(numbers))], numbers), path)
    command = [sys.executable, "-m", "malmoi", "convert", str(path), str(out / "x.vec.gz")]
    # A shell starts what runs in the background with Ctrl-C ignored; here it is to be heard.
    heard = partial(signal.signal, told, signal.SIG_DFL)
    with subprocess.Popen(command, stderr=subprocess.PIPE, preexec_fn=heard) as process:
        deadline = time.monotonic() + 300
        while not list(out.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(told)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert err == b"malmoi: interrupted\n"
    assert list(out.iterdir()) == []


def test_a_closed_pipe_is_no_error(model: str) -> None:
    command = f"{sys.executable} -m malmoi neighbours {model} 한국 | true"
    done = subprocess.run(command, shell=True, capture_output=True)
    assert done.stderr == b""
