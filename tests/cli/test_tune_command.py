"""`malmoi tune sentence`: what it prints, and a run that is killed at any moment."""

import json
from pathlib import Path

import pytest

from malmoi.cli import run
from malmoi.encode.loading import load_encoder
from malmoi.reporting.reporter import SilentReporter
from tests.killing_itself import leave_files_of_a_killed_run, run_until_killed
from tests.tune.worlds import scored_pairs, tiny_model

OPTIONS = ["--batch-size", "4", "--learning-rate", "1e-3", "--threads", "1"]
KILLS = 4
# A checkpoint after each step, and steps that take a moment.
PROGRAM = """
import sys, time
from malmoi.cli import run
from malmoi.files import checkpoint
from malmoi.tune.sentence import trainer
checkpoint.SAVE_EVERY = 0.0
step = trainer.SentenceTrainer.step
trainer.SentenceTrainer.step = lambda *given: (time.sleep(0.05), step(*given))[1]
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    tiny_model(Path("model"))
    for name, count, seed in (("train", 24, 0), ("dev", 40, 9)):
        rows = ["\t".join(map(str, row)) for row in scored_pairs(count, seed)]
        Path(f"{name}.tsv").write_text("\n".join(rows))
    return ["tune", "sentence", "train.tsv", "--model", "model", "--dev", "dev.tsv", *OPTIONS]


def test_the_verdict_is_printed(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command, "--out", "out", "--epochs", "2", "--columns", "1,2,3"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("out: 12 steps, 48 examples in ")
    assert "Spearman" in out
    assert "two texts and a number: cosine regression" in err
    assert all(len(line) <= 80 for line in out.splitlines())
    assert len(load_encoder("out").encode(["the bank"], reporter=SilentReporter())) == 1


def test_json(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command, "--out", "out", "--epochs", "1", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["written"] == "out"
    assert record["steps"] == 6
    assert record["difference"]["verdict"] in ("better", "no difference", "worse")
    assert [each["step"] for each in record["dev"]] == [0, 3, 6]


def test_mistakes_are_one_sentence(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        (["--out", "model"], "model exists already"),
        (["--out", "out", "--objective", "triplet"], "choose cosine or cosent"),
        (["--out", "out", "--resume"], "no out.checkpoint to resume from"),
    ):
        assert run([*command, *words]) == 1
        assert message in capsys.readouterr().err
    assert not Path("out").exists()


def test_a_run_that_was_killed_after_saving_is_complete(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*command, "--out", "out", "--epochs", "1"]
    assert run(words) == 0
    weights, files = Path("out/model.safetensors").read_bytes(), sorted(Path().iterdir())
    for more, shown in (
        ([], "out is complete: there is nothing to resume\n"),
        (["--json"], '{\n  "written": "out",\n  "resumed": false\n}\n'),
    ):
        left = leave_files_of_a_killed_run("out")
        capsys.readouterr()
        assert run([*words, *more]) == 1
        assert "out exists already" in capsys.readouterr().err
        assert all(path.exists() for path in left)
        assert run([*words, *more, "--resume"]) == 0
        assert capsys.readouterr().out == shown
        assert sorted(Path().iterdir()) == files
    assert Path("out/model.safetensors").read_bytes() == weights


def test_the_checkpoint_of_a_later_run_is_kept(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "--out", "out", "--epochs", "1"]) == 0
    Path("out.checkpoint").write_bytes(b"newer")
    assert run([*command, "--out", "out", "--resume"]) == 1
    assert "out exists already" in capsys.readouterr().err
    assert Path("out.checkpoint").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["tune", "sentence"], "--columns A,B,SCORE names"),
        (["tune", "distill"], "whose student collapses is stopped"),
        (["tune", "distill", "--static"], "The folder loads in malmoi, model2vec"),
        (["tune", "extend"], "Nothing is trained"),
        (["tune", "adapt"], "without any labels"),
        (["convert"], "The folder of a static encoder becomes one"),
    ],
)
def test_help_shows_the_docstring(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "--help"]) == 0
    shown = capsys.readouterr().out
    assert sentence in " ".join(shown.split())
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_killed_runs_end_with_the_same_bits(command: list[str]) -> None:
    assert run([*command, "--out", "whole", "--epochs", "5"]) == 0
    words = [*command, "--out", "out", "--epochs", "5"]
    for seed in range(KILLS):
        run_until_killed(PROGRAM, [*words, *["--resume"] * (seed > 0)], seed)
        assert not Path("out").exists()
    assert run([*words, "--resume"]) == 0
    weights = [Path(name, "model.safetensors").read_bytes() for name in ("whole", "out")]
    assert weights[0] == weights[1]
