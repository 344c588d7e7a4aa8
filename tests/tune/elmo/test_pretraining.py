"""Pretraining as a whole: it learns, resumes to the same bits, and refuses what it cannot use."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import malmoi as mm
from malmoi.files import checkpoint
from malmoi.models.nnlm_network import repeatable
from malmoi.reporting.reporter import Reporter, SilentReporter
from malmoi.train.common import loop
from malmoi.train.common.loop import DevScore
from malmoi.train.common.options import TrainOptions
from malmoi.tune.elmo import held_out
from malmoi.tune.elmo.batches import length_groups, word_grid
from malmoi.tune.elmo.initial_softmax import random_softmax
from malmoi.tune.elmo.pretraining import train_elmo
from malmoi.tune.elmo.result import PretrainedElmo
from malmoi.tune.elmo.trainer import ElmoTrainer
from tests.recording_reporter import RecordingReporter
from tests.tune.elmo.worlds import corpus_text, quick, sentences


def pretrain(texts: Any, reporter: Reporter | None = None, **changes: Any) -> PretrainedElmo:
    return train_elmo(texts, quick(**changes), reporter=reporter or SilentReporter())


class StopAfter(Reporter):
    """Interrupts a run after so many steps."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def loss(self, loss: float) -> None:
        self.steps -= 1
        if self.steps == 0:
            raise KeyboardInterrupt


def test_perplexity_falls_in_both_directions() -> None:
    model = pretrain(sentences(200), epochs=6, learning_rate=0.02)
    assert model.history[0][1] > 12
    assert max(model.perplexity) < 4
    assert model.trained == 6 * corpus_text(sentences(200), quick()).train.num_predicted


def test_ngram_models_predict_the_same_words() -> None:
    """In a world without contexts all models can only learn the frequencies of words."""
    random = np.random.default_rng(0)
    words = random.choice(["a", "b", "c", "\n"], 4000, p=[0.4, 0.2, 0.2, 0.2])
    lines = [line for line in " ".join(words).split("\n") if line.strip()]
    model = pretrain(lines, epochs=2, learning_rate=0.02, ngrams=True, max_length=40)
    assert model.ngrams is not None
    assert model.ngrams.bigram == pytest.approx(model.perplexity.forward, rel=0.06)
    assert model.ngrams.trigram == pytest.approx(model.perplexity.backward, rel=0.06)
    assert "trigram" in model.sentence


def test_perplexity_is_of_the_full_softmax() -> None:
    settings = quick()
    model = train_elmo(sentences(), settings, reporter=SilentReporter())
    text = corpus_text(sentences(), settings)
    total, count = np.zeros(2), 0
    with repeatable(settings.seed, 1):
        trainer = ElmoTrainer(text, settings, random_softmax(text, settings))
        assert np.exp(held_out.HeldOutPerplexity(trainer).losses()).mean() == pytest.approx(
            model.history[0][1], rel=1e-3
        )
        trainer.network.eval()
        for batch in length_groups(text.held_out, np.arange(len(text.held_out)), 1):
            hidden, targets = trainer.states(word_grid(text, batch, settings.widest_filter))
            logits = hidden.detach().numpy() @ trainer.table.numpy()[:, :-1].T
            logits += trainer.table.numpy()[:, -1]
            shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
            losses = -np.log(shares[np.arange(len(targets)), targets])
            total += losses.reshape(2, -1).sum(axis=1)
            count += len(targets) // 2
        np.testing.assert_allclose(
            held_out.HeldOutPerplexity(trainer).losses(), total / count, rtol=1e-4
        )
    assert count == text.held_out.num_predicted


@pytest.mark.parametrize("changes", [{}, {"dropout": 0.2, "characters": "jamo"}])
def test_an_interrupted_run_resumes_to_the_same_bits(
    changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    whole, settings = pretrain(sentences(), **changes), quick(**changes)
    path, resume = tmp_path / "run.checkpoint", False
    for steps in (3, 15, 7):
        options = TrainOptions(checkpoint=path, resume=resume)
        with pytest.raises(KeyboardInterrupt):
            train_elmo(sentences(), settings, options=options, reporter=StopAfter(steps))
        resume = True
    options = TrainOptions(checkpoint=path, resume=True)
    model = train_elmo(sentences(), settings, options=options, reporter=SilentReporter())
    assert model.history == whole.history
    assert model.perplexity == whole.perplexity
    assert model.softmax.tobytes() == whole.softmax.tobytes()
    for name, weight in whole.weights.items():
        assert model.weights[name].tobytes() == weight.tobytes(), name


def test_another_run_does_not_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", 0.0)
    path = tmp_path / "run.checkpoint"
    with pytest.raises(KeyboardInterrupt):
        train_elmo(
            sentences(), quick(), options=TrainOptions(checkpoint=path), reporter=StopAfter(3)
        )
    again = TrainOptions(checkpoint=path, resume=True)
    with pytest.raises(mm.InvalidArgumentError, match="with dim 12, not 13"):
        train_elmo(sentences(), quick(dim=13), options=again, reporter=SilentReporter())
    with pytest.raises(mm.InvalidArgumentError, match="another corpus"):
        train_elmo(sentences(seed=5), quick(), options=again, reporter=SilentReporter())
    limited = replace(quick(), minutes=1e-9)  # limits may change
    model = train_elmo(sentences(), limited, options=again, reporter=SilentReporter())
    assert model.stopped == "the limit of 1e-09 minutes"


def test_progress_shows_both_perplexities_and_the_end_by_time() -> None:
    reporter = RecordingReporter()
    model = pretrain(sentences(), reporter, epochs=10**6, minutes=0.02, eval_steps=None)
    assert model.stopped == "the limit of 0.02 minutes"
    (name, *_) = (name for name in reporter.stages if name.startswith("pretraining"))
    assert " / " in name
    assert reporter.units[name] == "words"
    done, total = reporter.stages[name][-2]
    assert done <= total < 1.5 * model.trained
    assert model.words_per_second > 100


def test_evaluations_come_after_minutes() -> None:
    model = pretrain(sentences(), epochs=3, eval_steps=None, eval_minutes=1e-6)
    assert len(model.history) > 10


def test_slow_evaluations_leave_time_to_train(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time between them is counted from the end of one, on a clock of our own."""
    clock, measure = [0.0], held_out.HeldOutPerplexity.measure

    def slow(self: held_out.HeldOutPerplexity) -> DevScore:
        clock[0] += 100
        return measure(self)

    class Ticking(SilentReporter):
        def loss(self, loss: float) -> None:
            clock[0] += 1

    monkeypatch.setattr(loop, "monotonic", lambda: clock[0])
    monkeypatch.setattr(held_out.HeldOutPerplexity, "measure", slow)
    model = pretrain(sentences(), Ticking(), eval_steps=None, eval_minutes=5 / 60)
    gaps = np.diff([step for step, _ in model.history])
    assert model.steps > 15
    assert all(5 <= gap <= 6 for gap in gaps[:-1])


def test_the_best_weights_are_kept() -> None:
    model = pretrain(sentences(30), epochs=8, learning_rate=0.1, eval_steps=2)
    best = min(range(1, len(model.history)), key=lambda i: model.history[i][1])
    assert model.best_step == model.history[best][0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"characters": "letters"}, "characters is 'letters': choose one of bytes, jamo"),
        ({"dim": 0}, "dim is 0: it must be at least 1"),
        ({"layers": 0}, "layers is 0"),
        ({"filters": ()}, "filters is empty"),
        ({"filters": ((51, 3),)}, r"filters has \(51, 3\): the width must be 1 to 50"),
        ({"filters": ((2, 0),)}, r"filters has \(2, 0\)"),
        ({"max_length": 1}, "max_length is 1: it must be at least 2"),
        ({"held_out": 0.0}, "held_out is 0.0: it must be a number above 0"),
        ({"held_out": 1.0}, "held_out is 1.0: it must be at least 0 and below 1"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"negative_samples": 0}, "negative_samples is 0"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"eval_minutes": 0.0}, "eval_minutes is 0.0"),
        ({"max_vocab_size": 0}, "max_vocab_size is 0"),
    ],
)
def test_settings_out_of_range(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(mm.InvalidArgumentError, match=message):
        quick(**changes)


def test_initial_vectors_are_refused() -> None:
    vectors = mm.Vectors(["a"], np.ones((1, 3)))
    with pytest.raises(mm.InvalidArgumentError, match="does not support init_vectors"):
        train_elmo(["a b"], options=TrainOptions(init_vectors=vectors))


@pytest.mark.parametrize("text", [[], [""], [[]]])
def test_a_corpus_without_words(text: Any) -> None:
    with pytest.raises(mm.MalmoiError, match=r"no words|is empty"):
        pretrain(text)


def test_a_training_that_diverges_is_one_sentence() -> None:
    with pytest.raises(mm.InvalidArgumentError, match=r"pretraining diverged after .* words"):
        pretrain(sentences(), epochs=20, learning_rate=1e30)
