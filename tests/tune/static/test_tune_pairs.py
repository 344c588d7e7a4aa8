"""Tuning a static encoder on pairs with scores."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import malmoi as mm
from malmoi.encode.static.static_encoder import StaticEncoder, load_static
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.data.examples import read_examples
from malmoi.tune.sentence.settings import TuneSettings
from malmoi.tune.static.tune_pairs import LEARNING_RATE, static_rate, tune_static
from tests.encode.static_worlds import tiny_static
from tests.tune.worlds import scored_pairs

QUIET = SilentReporter()


@pytest.fixture
def encoder(tmp_path: Path) -> StaticEncoder:
    return load_static(tiny_static(tmp_path / "static"))


def tuned(encoder: StaticEncoder, out: Path, **changes: Any) -> mm.TuneResult:
    examples = read_examples(scored_pairs(200), "cosine", reporter=QUIET)
    dev = mm.SentenceSet.of(*zip(*scored_pairs(60, seed=9), strict=True))
    settings = TuneSettings(**changes)
    return tune_static([examples], encoder, out, settings, dev=dev, command="x", reporter=QUIET)


def test_scores_of_new_pairs_become_better(encoder: StaticEncoder, tmp_path: Path) -> None:
    result = tuned(encoder, tmp_path / "out", epochs=8)
    assert result.difference is not None
    assert result.difference.verdict == "better"
    assert len(result.history) == 9
    assert result.best_step == max(result.history, key=lambda each: each[1])[0]
    new = load_static(str(tmp_path / "out"))
    assert result.after is not None
    dev = mm.SentenceSet.of(*zip(*scored_pairs(60, seed=9), strict=True))
    score = mm.sentence_similarity(new, dev, reporter=QUIET).spearman.value
    assert score == pytest.approx(result.after.value, abs=1e-6)
    assert "tuned with malmoi" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def test_the_encoder_and_unused_tokens_do_not_change(
    encoder: StaticEncoder, tmp_path: Path
) -> None:
    before = encoder.parts.table.copy()
    tuned(encoder, tmp_path / "out", epochs=1)
    np.testing.assert_array_equal(encoder.parts.table, before)
    new = load_static(str(tmp_path / "out"))
    np.testing.assert_array_equal(new.encode("비행기가 있다"), encoder.encode("비행기가 있다"))


def test_the_same_seed_gives_the_same_table(encoder: StaticEncoder, tmp_path: Path) -> None:
    for name in ("one", "other"):
        tuned(encoder, tmp_path / name, epochs=2)
    files = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "other")]
    assert files[0] == files[1]


def test_without_a_dev_set_the_last_epoch_is_kept(encoder: StaticEncoder, tmp_path: Path) -> None:
    examples = read_examples(scored_pairs(50), "cosine", reporter=QUIET)
    settings = TuneSettings(epochs=3)
    result = tune_static([examples], encoder, tmp_path / "out", settings, reporter=QUIET)
    assert (result.best_step, result.history, result.difference) == (3, (), None)


def test_other_objectives_are_refused(encoder: StaticEncoder, tmp_path: Path) -> None:
    examples = read_examples([("the bank", "the river"), ("a", "b")], reporter=QUIET)
    with pytest.raises(mm.InvalidArgumentError, match="tuned by cosine only"):
        tune_static([examples], encoder, tmp_path / "out", TuneSettings(), reporter=QUIET)


def test_the_default_rate_is_one_for_token_vectors() -> None:
    assert static_rate(TuneSettings()) == LEARNING_RATE
    assert static_rate(TuneSettings(learning_rate=0.3)) == 0.3


def test_tune_sentence_tunes_a_static_encoder_without_torch(
    encoder: StaticEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    pairs, dev = scored_pairs(200), mm.SentenceSet.of(*zip(*scored_pairs(60, seed=9), strict=True))
    settings = TuneSettings(objective="cosine", epochs=8)
    result = mm.tune_sentence(
        pairs, encoder.name, tmp_path / "out", settings, dev=dev, reporter=QUIET
    )
    assert result.difference is not None
    assert result.difference.verdict == "better"
    assert isinstance(mm.load_encoder(str(tmp_path / "out")), StaticEncoder)
