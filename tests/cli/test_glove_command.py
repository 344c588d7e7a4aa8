"""`malmoi train glove`, from text or counts to a file, stopped and taken up again."""

import io
import json
from pathlib import Path

import numpy as np
import pytest

from malmoi.cli import run
from malmoi.cli.shared.text_options import format_losses
from malmoi.formats import load, save
from malmoi.reporting.progress_bar import ProgressBar
from malmoi.train.glove import records as glove_records
from malmoi.vectors import Vectors

Output = pytest.CaptureFixture[str]
SMALL = ["--dim", "6", "--window", "3", "--min-count", "1", "--iterations", "4", "--threads", "1"]


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "text.txt"
    words = np.random.default_rng(1).integers(0, 20, (80, 6))
    path.write_text("\n".join(" ".join(f"w{word}" for word in line) for line in words))
    return str(path)


@pytest.fixture
def command(corpus: str) -> list[str]:
    return ["train", "glove", corpus, *SMALL, "--out"]


def test_vectors_are_written_and_said(command: list[str], tmp_path: Path, capsys: Output) -> None:
    out = tmp_path / "vectors.malmoi"
    assert run([*command, str(out), "--json"]) == 0
    told = capsys.readouterr()
    said = json.loads(told.out)
    losses = said.pop("losses")
    assert said == {"written": str(out), "rows": 20, "dim": 6}
    assert losses == sorted(losses, reverse=True)
    assert "training takes less than 1 MB of memory" in told.err
    vectors = load(out)
    assert (len(vectors), vectors.dim) == (20, 6)
    assert len(json.loads(vectors.meta["losses"])) == 4
    assert "tokenizer" in vectors.meta
    assert run([*command, str(tmp_path / "both.txt"), "--vectors", "both"]) == 0
    assert "20 rows, 12 dim" in capsys.readouterr().out


def test_saved_counts_are_as_good_as_text(
    corpus: str, command: list[str], tmp_path: Path, capsys: Output
) -> None:
    counts, one, other = (str(tmp_path / name) for name in ("counts", "one.txt", "other.txt"))
    assert run(["cooccur", corpus, "--window", "3", "--out", counts]) == 0
    assert "20 words" in capsys.readouterr().out
    assert run([*command, one]) == 0
    capsys.readouterr()
    assert run(["train", "glove", counts, *SMALL, "--out", other, "--digits"]) == 0
    told = capsys.readouterr()
    assert "counts is counted already: --window, --min-count, --digits has no effect" in told.err
    assert "\nloss per iteration: 0." in told.out
    assert load(one).matrix.tobytes() == load(other).matrix.tobytes()
    asked = ["--words", "w1,w2", "--contexts", "w3", "--out", str(tmp_path / "again")]
    capsys.readouterr()
    assert run(["cooccur", corpus, "--window", "3", *asked, "--json"]) == 0
    assert "P(k|w1)" in json.loads(capsys.readouterr().out)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "counts").read_bytes()


def test_long_losses_fit_a_line() -> None:
    line = format_losses([1.2345e-07] * 24 + [None], "iteration")
    assert line == "loss per iteration: 1.235e-07 1.235e-07 1.235e-07 … 1.235e-07 1.235e-07 none"
    assert len(format_losses([1.2345e-07] * 5, "iteration")) <= 80
    assert format_losses([2.0, 1.0], "epoch") == "loss per epoch: 2 1"


def test_text_may_come_from_standard_input(
    corpus: str, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Piped:
        buffer = io.BytesIO(Path(corpus).read_bytes())

    one, other = (str(tmp_path / name) for name in ("one.txt", "other.txt"))
    assert run([*command, one]) == 0
    monkeypatch.setattr("sys.stdin", Piped())
    assert run(["train", "glove", "-", *SMALL, "--out", other]) == 0
    assert load(one).matrix.tobytes() == load(other).matrix.tobytes()


@pytest.mark.parametrize(
    ("asked", "words"),
    [([], "nothing to do"), (["--words", "a", "--out", "x"], "go together")],
)
def test_counting_for_nothing(corpus: str, asked: list[str], words: str, capsys: Output) -> None:
    assert run(["cooccur", corpus, *asked]) == 1
    assert words in capsys.readouterr().err


def test_an_interrupted_training_is_resumed(
    command: list[str], tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, out, left = (tmp_path / name for name in ("whole.txt", "x.txt", "x.txt.checkpoint"))
    monkeypatch.setattr(glove_records, "CHUNK_GROUPS", 4)
    assert run([*command, str(whole)]) == 0

    class Impatient(ProgressBar):
        def __call__(self, done: int, total: int) -> None:
            if self.name.startswith("training") and done > total / 2:
                raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("malmoi.reporting.progress_bar.ProgressBar", Impatient)
        assert run([*command, str(out)]) == 130
    assert f"{left} is kept: run the same command with --resume" in capsys.readouterr().err
    assert left.exists()
    assert not out.exists()
    assert run([*command, str(out), "--resume"]) == 0
    assert load(out).matrix.tobytes() == load(whole).matrix.tobytes()
    assert not left.exists()


def test_beginning_with_vectors(command: list[str], tmp_path: Path, capsys: Output) -> None:
    old, out = tmp_path / "old.txt", tmp_path / "new.txt"
    save(Vectors(["w3", "elsewhere"], np.arange(12.0).reshape(2, 6) / 12), old)
    assert run([*command, str(out), "--init-vectors", str(old), "--freeze"]) == 0
    assert np.array_equal(load(out)["w3"], load(old)["w3"])
    assert "elsewhere" not in load(out)
    assert run([*command, str(out), "--update", str(old)]) == 0
    assert not np.array_equal(load(out)["w3"], load(old)["w3"])
    assert np.array_equal(load(out)["elsewhere"], load(old)["elsewhere"])
    capsys.readouterr()
    assert run([*command, str(out), "--update", str(old), "--init-vectors", str(old)]) == 1
    assert "exclude each other: give one" in capsys.readouterr().err
    assert run([*command, str(out), "--freeze"]) == 1
    assert "freeze needs init_vectors" in capsys.readouterr().err


def test_settings_are_refused_in_one_sentence(
    command: list[str], tmp_path: Path, capsys: Output
) -> None:
    assert run([*command, str(tmp_path / "x.txt"), "--x-max", "0"]) in (1, 2)
    assert "x_max is 0" in capsys.readouterr().err
