"""`malmoi tune adapt`: what it prints, and an interruption."""

import json
from pathlib import Path

import pytest

from malmoi.cli import run
from malmoi.encode.loading import load_encoder
from malmoi.reporting.reporter import SilentReporter
from tests.tune.adapt.worlds import documents, save_beir
from tests.tune.worlds import tiny_model

OPTIONS = ["--batch-size", "8", "--learning-rate", "1e-3", "--max-tokens", "32", "--threads", "1"]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    tiny_model(Path("model"))
    Path("corpus.txt").write_text("\n".join([*documents(), documents()[0], ""]))
    save_beir(Path("beir"), documents())
    return ["tune", "adapt", "corpus.txt", "--model", "model", "--out", "out", *OPTIONS]


def test_perplexity_and_verdict_are_printed(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "--method", "mlm", "--dev", "beir"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("out: 5 steps, 37 examples in ")
    assert "nDCG@10" in out
    assert "perplexity of held-out text" in out
    assert "1 duplicates were skipped" in err
    assert all(len(line) <= 80 for line in out.splitlines())
    assert len(load_encoder("out").encode(["the bank"], reporter=SilentReporter())) == 1


def test_json(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command, "--method", "tsdae", "--dev", "beir", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["written"] == "out"
    assert {"step", "ndcg@10"} == record["dev"][0].keys()
    assert record["perplexity"]["after"]["passages"] == 4
    assert record["difference"]["verdict"] in ("better", "no difference", "worse")


def test_a_contrastive_run_without_a_dev_set(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "--max-documents", "16"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("out: 2 steps, 16 examples in ")
    assert "no dev set" in out


def test_a_missing_corpus_is_one_sentence(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command[:2], "missing.txt", *command[3:]]) != 0
    assert "missing.txt does not exist" in capsys.readouterr().err
    assert not Path("out").exists()
