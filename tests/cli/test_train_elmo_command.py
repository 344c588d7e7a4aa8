"""`malmoi train elmo`: what it prints, what it refuses, and a run that is killed."""

import json
import re
from pathlib import Path

import pytest

from malmoi.cli import run
from tests.killing_itself import leave_files_of_a_killed_run, run_until_killed
from tests.tune.elmo.worlds import sentences

KILLS = 3
OPTIONS = [
    *("--dim", "8", "--batch-size", "64", "--max-length", "12", "--held-out", "0.1", "--epochs"),
    *("2", "--eval-steps", "10", "--threads", "1", "--negative-samples", "8", "--min-count", "1"),
]
# A checkpoint after each step, each of which takes a moment.
PROGRAM = """
import sys, time
from malmoi.cli import run
from malmoi.files import checkpoint
from malmoi.reporting.reporter import Reporter
checkpoint.SAVE_EVERY = 0.0
Reporter.loss = lambda self, loss: time.sleep(0.02)
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("corpus.txt").write_text("\n".join(sentences()), encoding="utf-8")
    return ["train", "elmo", "corpus.txt", "--out", "out", *OPTIONS]


def test_perplexities_are_printed(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command) == 0
    out = capsys.readouterr().out
    assert re.match(r"out: \d+ steps, [12],\d{3} words in \d\.\d minutes", out)
    assert "held-out perplexity" in out
    assert "Kneser–Ney bigram" in " ".join(out.split())
    assert all(len(line) <= 80 for line in out.splitlines())
    names = {path.name for path in Path("out").iterdir()}
    assert names == {"options.json", "weights.hdf5", "vocab.txt", "softmax.safetensors"}
    assert {path.name for path in Path().iterdir()} == {"corpus.txt", "out"}


def test_json(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command, "--no-ngrams", "--json", "--characters", "jamo"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["written"] == "out"
    assert record["perplexity"].keys() == {"forward", "backward"}
    assert "kneser_ney" not in record
    assert record["settings"]["characters"] == "jamo"
    assert record["steps"] == record["history"][-1][0]


def test_the_tokenizer_is_in_the_folder(command: list[str]) -> None:
    Path("corpus.txt").write_text("The cat, the dog.\n" * 9)
    assert run([*command, "--no-ngrams", "--tokenizer", "english", "--cased", "--marks"]) == 0
    options = json.loads(Path("out/options.json").read_text(encoding="utf-8"))
    assert options["malmoi"]["tokenizer"] == {
        "name": "english", "lower": False, "marks": True, "clitics": False,
    }  # fmt: skip
    assert "The" in Path("out/vocab.txt").read_text().splitlines()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--marks"], "--marks is an option of --tokenizer english"),
        (["--layers", "0"], "layers is 0: it must be at least 1"),
        (["--resume"], "there is no out.checkpoint to resume from"),
    ],
)
def test_one_sentence(
    more: list[str], message: str, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, *more]) != 0
    assert message in " ".join(capsys.readouterr().err.split())
    assert not Path("out").exists()


def test_an_existing_folder_and_a_missing_corpus(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("out").mkdir()
    assert run(command) == 1
    assert "out exists already" in capsys.readouterr().err
    Path("out").rmdir()
    Path("corpus.txt").unlink()
    assert run(command) == 1
    assert "corpus.txt does not exist" in capsys.readouterr().err


def test_an_empty_corpus(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("corpus.txt").write_text("")
    assert run(command) == 1
    assert "corpus.txt is empty" in capsys.readouterr().err


def test_a_killed_run_ends_with_the_same_bits(command: list[str]) -> None:
    assert run([*command, "--no-ngrams"]) == 0
    expected = Path("out/weights.hdf5").read_bytes()
    Path("out").rename("whole")
    for seed in range(KILLS):
        more = ["--no-ngrams", *["--resume"] * (seed > 0)]
        run_until_killed(PROGRAM, [*command, *more], seed)
        assert not Path("out").exists()
    assert run([*command, "--no-ngrams", "--resume"]) == 0
    assert Path("out/weights.hdf5").read_bytes() == expected
    assert not Path("out.checkpoint").exists()


def test_a_run_that_was_killed_after_saving_is_complete(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*command, "--no-ngrams"]
    assert run(words) == 0
    files, left = sorted(Path().iterdir()), leave_files_of_a_killed_run("out")
    assert run(words) == 1
    assert "out exists already" in capsys.readouterr().err
    assert all(path.exists() for path in left)
    assert run([*words, "--resume"]) == 0
    assert capsys.readouterr().out == "out is complete: there is nothing to resume\n"
    assert sorted(Path().iterdir()) == files
