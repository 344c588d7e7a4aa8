"""Tuning as a whole: it learns, keeps the best state, stops, resumes, and can be loaded."""

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentence_transformers

from malmoi.encode.loading import load_encoder
from malmoi.errors import InvalidArgumentError, InvalidFileError
from malmoi.evaluate.sentences import sentence_similarity
from malmoi.evaluate.sets.sentence_sets import SentenceSet
from malmoi.files import checkpoint
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.result import TuneResult, compare
from malmoi.tune.sentence.settings import TuneSettings
from malmoi.tune.sentence.tuning import tune_sentence
from tests.encode.checkpoints import change
from tests.recording_reporter import RecordingReporter
from tests.tune.worlds import QUIET, StopAfter, random_texts, scored_pairs, tiny_model

PAIRS = scored_pairs(40)
DEV = SentenceSet.of(*zip(*scored_pairs(60, seed=9), strict=True))
OWN = SentenceSet.of(*zip(*PAIRS, strict=True))


def tune(
    data: Any, model: str, out: Path, dev: SentenceSet | None = None, **changes: Any
) -> TuneResult:
    settings = TuneSettings(**QUIET | changes)
    return tune_sentence(data, model, out, settings, dev=dev, reporter=SilentReporter())


@pytest.fixture
def model(tmp_path: Path) -> str:
    return tiny_model(tmp_path / "model")


def test_tuning_makes_the_model_better_and_the_folder_has_the_best_state(
    model: str, tmp_path: Path
) -> None:
    result = tune(PAIRS, model, tmp_path / "out", OWN, epochs=12)
    assert result.difference is not None
    assert result.difference.verdict == "better"
    assert result.before is not None
    assert result.after is not None
    assert result.after.value == max(score for step, score in result.history if step)
    assert dict(result.history)[result.best_step] == result.after.value
    for name, score in ((model, result.before), (str(tmp_path / "out"), result.after)):
        measured = sentence_similarity(load_encoder(name), OWN, reporter=SilentReporter())
        assert measured.spearman.value == pytest.approx(score.value, abs=1e-3)
    assert result.sentence.startswith("better: Spearman ")


@pytest.mark.parametrize("family", ["bert", "distilbert", "electra", "mpnet", "roberta"])
def test_sentence_transformers_loads_the_folder(family: str, tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "model", family)
    out = str(tune(PAIRS, model, tmp_path / "out", epochs=1).folder)
    texts = random_texts(20, seed=4)
    ours = load_encoder(out).encode(texts, reporter=SilentReporter())
    theirs = sentence_transformers.SentenceTransformer(out, device="cpu").encode(texts)
    np.testing.assert_allclose(ours, theirs, atol=2e-6)
    untuned = load_encoder(model).encode(texts, reporter=SilentReporter())
    assert np.abs(ours - untuned).max() > 1e-3


def test_a_real_model_is_the_same_in_sentence_transformers(tmp_path: Path) -> None:
    out = str(tune(PAIRS[:8], "minilm", tmp_path / "out", epochs=1, freeze_layers=4).folder)
    texts = random_texts(20, seed=4)
    theirs = sentence_transformers.SentenceTransformer(out, device="cpu").encode(texts)
    np.testing.assert_allclose(load_encoder(out).encode(texts), theirs, atol=1e-6)
    assert np.abs(load_encoder("minilm").encode(texts) - theirs).max() > 1e-3


def test_a_folder_of_sentence_transformers_keeps_its_modules(tmp_path: Path) -> None:
    from sentence_transformers.sentence_transformer.modules import (
        Dense,
        Normalize,
        Pooling,
        Transformer,
    )

    plain = tiny_model(tmp_path / "plain")
    modules = [Transformer(plain), Pooling(32, "cls"), Dense(32, 8), Normalize()]
    sentence_transformers.SentenceTransformer(modules=modules, device="cpu").save(
        str(tmp_path / "model")
    )
    out = str(tune(PAIRS, str(tmp_path / "model"), tmp_path / "out", epochs=1).folder)
    texts = random_texts(20, seed=4)
    ours = load_encoder(out).encode(texts, reporter=SilentReporter())
    theirs = sentence_transformers.SentenceTransformer(out, device="cpu").encode(texts)
    assert ours.shape == (20, 8)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    untuned = load_encoder(str(tmp_path / "model")).encode(texts, reporter=SilentReporter())
    assert np.abs(ours - untuned).max() > 1e-3


ROWS: dict[str, list[Any]] = {
    "softmax": [(a, b, "near" if s > 0.4 else "far") for a, b, s in PAIRS],
    "cosine": PAIRS,
    "cosent": PAIRS,
    "triplet": [(a, b, c[0]) for (a, b, _), c in pairwise(PAIRS)],
    "multiple_negatives": [(a, b) for a, b, _ in PAIRS],
    "contrastive": [(a, b, int(s > 0.4)) for a, b, s in PAIRS],
    "online_contrastive": [(a, b, int(s > 0.4)) for a, b, s in PAIRS],
    "margin_mse": [(a, b, c[0], s) for (a, b, s), c in pairwise(PAIRS)],
}


def test_several_negatives_per_row_are_learned(model: str, tmp_path: Path) -> None:
    names = ("anchor", "positive", "negative_1", "negative_2")
    texts = random_texts(60, seed=3)
    rows = [dict(zip(names, texts[4 * i : 4 * i + 4], strict=True)) for i in range(15)]
    reporter = RecordingReporter()
    settings = TuneSettings(**QUIET | {"epochs": 8})
    result = tune_sentence(rows, model, tmp_path / "out", settings, reporter=reporter)
    assert result.examples == 8 * 15
    assert np.mean(reporter.losses[-4:]) < 0.97 * np.mean(reporter.losses[:4])


@pytest.mark.parametrize("objective", list(ROWS))
def test_the_loss_of_every_objective_falls(objective: str, model: str, tmp_path: Path) -> None:
    reporter = RecordingReporter()
    settings = TuneSettings(**QUIET | {"objective": objective, "epochs": 8, "batch_size": 8})
    tune_sentence(ROWS[objective], model, tmp_path / "out", settings, reporter=reporter)
    steps = len(reporter.losses) // 8
    assert np.mean(reporter.losses[-steps:]) < 0.97 * np.mean(reporter.losses[:steps])


def test_a_teacher_is_approached(model: str, tmp_path: Path) -> None:
    teacher = str(tune(PAIRS, model, tmp_path / "teacher", epochs=6).folder)
    texts = [(text,) for text in random_texts(40, seed=2)]
    student = tune(texts, model, tmp_path / "out", objective="mse", teacher=teacher, epochs=6)
    goal, before, after = (
        load_encoder(name).encode([text for (text,) in texts], reporter=SilentReporter())
        for name in (teacher, model, str(student.folder))
    )
    assert np.square(after - goal).mean() < 0.5 * np.square(before - goal).mean()


def test_several_files_are_used_at_once(model: str, tmp_path: Path) -> None:
    scored, plain = tmp_path / "scored.tsv", tmp_path / "pairs.tsv"
    scored.write_text("\n".join("\t".join(map(str, row)) for row in PAIRS))
    plain.write_text("\n".join("\t".join(row[:2]) for row in PAIRS))
    result = tune([scored, plain], model, tmp_path / "out", epochs=1)
    assert result.data[0].endswith("40 examples, two texts and a number: cosine regression")
    assert result.data[1].endswith("40 examples, two texts: multiple negatives ranking")
    assert result.examples == 80


def test_frozen_layers_stay_and_their_cache_changes_nothing(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = str(tune(PAIRS, model, tmp_path / "out", freeze_layers=2).folder)
    texts = random_texts(10, seed=4)
    states = [
        load_encoder(name).activations(texts, reporter=SilentReporter()).states  # type: ignore[attr-defined]
        for name in (model, out)
    ]
    for before, after in zip(*states, strict=True):
        np.testing.assert_array_equal(before[:3], after[:3])
        assert np.abs(before[3] - after[3]).max() > 1e-3
    monkeypatch.setattr("malmoi.tune.sentence.trainer.free_memory", lambda: 1000)
    reporter = RecordingReporter()
    settings = TuneSettings(**QUIET | {"freeze_layers": 2})
    tune_sentence(PAIRS, model, tmp_path / "uncached", settings, reporter=reporter)
    assert any("too much to be cached" in warning for warning in reporter.warnings)
    vectors = [
        load_encoder(str(tmp_path / name)).encode(texts, reporter=SilentReporter())
        for name in ("out", "uncached")
    ]
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-4)


def test_early_stopping_and_a_limit_of_time(model: str, tmp_path: Path) -> None:
    changes = {"learning_rate": 1e-9, "eval_steps": 1, "epochs": 50}
    result = tune(PAIRS, model, tmp_path / "a", DEV, patience=3, **changes)
    assert result.stopped == "no better dev score in 3 evaluations"
    assert result.steps < 400
    result = tune(PAIRS, model, tmp_path / "b", minutes=1e-6)
    assert (result.stopped, result.steps) == ("the limit of 1e-06 minutes", 1)


@pytest.mark.parametrize(
    "changes",
    [{"dropout": 0.2, "precision": "bfloat16"}, {"freeze_layers": 1, "objective": "cosent"}],
)
def test_an_interrupted_run_resumes_to_the_same_bits(
    changes: dict[str, Any], model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    whole = tune(PAIRS, model, tmp_path / "whole", DEV, **changes)
    settings = TuneSettings(**QUIET | changes)
    resume = False
    for steps in (3, 5, 7):
        with pytest.raises(KeyboardInterrupt):
            tune_sentence(
                PAIRS, model, tmp_path / "out", settings, dev=DEV, resume=resume,
                reporter=StopAfter(steps),
            )  # fmt: skip
        resume = True
    result = tune_sentence(
        PAIRS, model, tmp_path / "out", settings, dev=DEV, resume=True, reporter=SilentReporter()
    )
    assert result.history == whole.history
    files = [tmp_path / name / "model.safetensors" for name in ("whole", "out")]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert not (tmp_path / "out.checkpoint").exists()


def test_another_run_does_not_resume(model: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    settings, out = TuneSettings(**QUIET), tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        tune_sentence(PAIRS, model, out, settings, reporter=StopAfter(3))
    other = replace(settings, learning_rate=0.5)
    for data, changed, message in (
        (PAIRS, other, "learning_rate 0.001, not 0.5"),
        (PAIRS[1:], settings, "another corpus"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            tune_sentence(data, model, out, changed, resume=True, reporter=SilentReporter())


def test_the_card_names_data_settings_scores_and_command(model: str, tmp_path: Path) -> None:
    path = tmp_path / "my pairs.tsv"
    path.write_text("\n".join("\t".join(map(str, row)) for row in PAIRS))
    result = tune(path, model, tmp_path / "out", DEV, matryoshka_dims=(8, 32))
    card = (tmp_path / "out" / "README.md").read_text()
    assert f"- {path}: 40 examples, two texts and a number: cosine regression" in card
    assert "learning_rate=0.001" in card
    assert "| after | 60 |" in card
    last_step, last = result.history[-1]
    assert f"{100 * last:.2f} (step {last_step})." in card
    command = f"malmoi tune sentence '{path}' --model {model} --out {tmp_path / 'out'} --dev DEV"
    assert command in card
    assert "--matryoshka-dims 8 --matryoshka-dims 32" in card


def test_weights_of_half_precision_become_float32(model: str, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    path = Path(model) / "model.safetensors"
    halves = {name: array.astype(np.float16) for name, array in load_file(path).items()}
    save_file(halves, path, {"format": "pt"})
    change(Path(model) / "config.json", dtype="float16")
    out = str(tune(PAIRS, model, tmp_path / "out", epochs=1).folder)
    texts = random_texts(10, seed=4)
    theirs = sentence_transformers.SentenceTransformer(out, device="cpu").encode(texts)
    ours = load_encoder(out).encode(texts, reporter=SilentReporter())
    np.testing.assert_allclose(ours, theirs, atol=2e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"freeze_layers": 3}, "freeze at most 2"),
        ({"matryoshka_dims": (64,)}, "have 32 dimensions"),
        ({"objective": "triplet"}, "choose cosine or cosent"),
        ({"objective": "mse"}, "needs a teacher"),
        ({"objective": "best"}, "choose one of softmax"),
        ({"learning_rate": 0.0}, "must be a number above 0"),
        ({"warmup": 1.0}, "below 1"),
        ({"epochs": 0}, "at least 1"),
        ({"matryoshka_dims": (0,)}, "at least 1"),
        ({"learning_rate": 1e30}, "diverged"),
    ],
)
def test_settings_that_cannot_be_are_refused(
    changes: dict[str, Any], message: str, model: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        tune(PAIRS, model, tmp_path / "out", **changes)
    assert not (tmp_path / "out").exists()


def test_texts_alone_need_a_teacher(model: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="name a teacher"):
        tune([("a fish",), ("the bank",)], model, tmp_path / "out")


def test_weights_that_diverge_in_the_last_step_are_not_saved(model: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="diverged after 4 examples"):
        tune(PAIRS[:4], model, tmp_path / "out", epochs=1, warmup=0.0, learning_rate=1e38)
    assert not (tmp_path / "out").exists()


def test_progress_names_the_dev_score(model: str, tmp_path: Path) -> None:
    reporter = RecordingReporter()
    settings = TuneSettings(**QUIET | {"freeze_layers": 1})
    tune_sentence(PAIRS, model, tmp_path / "out", settings, dev=DEV, reporter=reporter)
    names = list(reporter.stages)
    assert names[:2] == ["tokenizing", "frozen layers"]
    assert all(name.startswith("tuning, dev ") for name in names[2:])
    assert reporter.units[names[2]] == "examples"
    assert reporter.stages[names[-1]][-1] == (80, 80)
    assert len(reporter.losses) == 20


def test_torch_is_imported_only_when_something_is_tuned() -> None:
    code = "import sys, malmoi.cli.tune.sentence; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_existing_folder_is_not_replaced(model: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="exists already"):
        tune(PAIRS, model, Path(model))


def test_pairs_that_all_share_a_text_have_no_negatives(model: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="share no text"):
        tune([("fish", "bank"), ("fish", "river")], model, tmp_path / "out")


def test_a_difference_is_judged_by_its_interval() -> None:
    random = np.random.default_rng(0)
    truth = random.normal(size=300)
    good, bad = truth + 0.3 * random.normal(size=300), truth + 3 * random.normal(size=300)
    verdicts = [compare(a, b, truth) for a, b in ((bad, good), (good, bad), (good, good))]
    assert [each and each.verdict for each in verdicts] == ["better", "worse", "no difference"]
    assert compare(np.zeros(5), np.zeros(5), np.arange(5.0)) is None
