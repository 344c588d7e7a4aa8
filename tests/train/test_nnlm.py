"""Training neural language models: a grammar learnt, seeds, the sampled softmax, settings."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from malmoi.errors import (
    InvalidArgumentError,
    InvalidFileError,
    MalmoiWarning,
    MissingDependencyError,
)
from malmoi.files.source import InputFile
from malmoi.files.tensors import read_safetensors, write_safetensors
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.models.nnlm_model import WEIGHTS, NeuralModel
from malmoi.text.encoded import EncodedCorpus
from malmoi.train.common.options import TrainOptions
from malmoi.train.language.ngram import NGram, train_ngram
from malmoi.train.language.nnlm import NNLM, learning_rate_factor, train_nnlm
from malmoi.vocabulary import Vocabulary
from tests.reporters import CallbackReporter

pytest.importorskip("torch", reason="needs the extra 'train'")

SMALL = NNLM(
    context=3,
    dim=8,
    hidden=16,
    dropout=0,
    softmax="full",
    epochs=60,
    batch_size=16,
    learning_rate=0.02,
)
ANIMALS = {"cat": "meows", "dog": "barks", "cow": "moos", "bird": "sings"}
GRAMMAR = [
    [article, animal, place, sound]
    for animal, sound in ANIMALS.items()
    for article in ("the", "a", "one")
    for place in ("here", "there")
]


def arrays(model: NeuralModel) -> list[bytes]:
    """Every bit of the weights."""
    return [getattr(model.layers, name).tobytes() for name in WEIGHTS]


@pytest.mark.parametrize(
    "settings",
    [
        SMALL,
        replace(SMALL, tied=False),
        replace(SMALL, direct=False),
        replace(SMALL, tied=False, direct=False, dropout=0.1),
        replace(SMALL, softmax="sampled", negative_samples=8),
    ],
)
def test_a_grammar_is_learnt(settings: NNLM) -> None:
    model = train_nnlm(GRAMMAR, settings)
    for animal, sound in ANIMALS.items():
        best = model.next_words(["the", animal, "here"], 1)[0]
        assert best.word == sound
        assert best.probability > 0.9
    assert model.probability("</s>", ["dog", "here", "barks"]) > 0.9
    # 3 articles, 4 animals, 2 places: whoever knows the grammar hesitates 24 ways a sentence.
    assert model.perplexity(GRAMMAR) < 24 ** (1 / 5) * 1.1


def test_the_fat_cat_will_sit() -> None:
    text = [line.split() for line in ("what will the fat cat sit on", "what did the cat eat")]
    model = train_nnlm(text, replace(SMALL, context=4))
    assert model.next_words(["will", "the", "fat", "cat"], 1)[0].word == "sit"


def test_unseen_contexts_are_understood_from_words_that_are_alike() -> None:
    """What Bengio et al. ask for: the n-gram model has never seen `dog here barks` after one."""
    unseen = ["one", "dog", "there", "barks"]
    text = [sentence for sentence in GRAMMAR if sentence != unseen]
    neural = train_nnlm(text, replace(SMALL, context=4))
    ngram = train_ngram(text, NGram(order=5, smoothing="interpolated"))
    assert neural.perplexity([unseen]) < ngram.perplexity([unseen])


def test_the_same_seed_gives_the_same_bits() -> None:
    settings = replace(SMALL, epochs=2, dropout=0.2, softmax="sampled", negative_samples=5)
    first, again = train_nnlm(GRAMMAR, settings), train_nnlm(GRAMMAR, settings)
    assert arrays(first) == arrays(again)
    assert arrays(first) != arrays(train_nnlm(GRAMMAR, replace(settings, seed=2)))


def test_torch_is_left_as_it_was_found() -> None:
    import torch

    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    before = torch.get_num_threads()
    train_nnlm(GRAMMAR, replace(SMALL, epochs=1, threads=before + 1))
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == before


def test_the_sampled_loss_comes_close_to_the_full_one() -> None:
    import torch

    from malmoi.models.nnlm_network import NnlmNetwork

    random = np.random.default_rng(1)
    counts = random.integers(1, 50, 40)
    torch.manual_seed(1)
    network = NnlmNetwork(counts, (2, 8, 8), direct=True, tied=True, drop=0)
    with torch.no_grad():
        network.lookup.mul_(10)  # a network that has learnt to tell words apart
    contexts = torch.from_numpy(random.integers(0, 40, (64, 2)))
    targets = torch.from_numpy(random.integers(0, 39, 64))
    full = network.full_loss(contexts, targets).item()
    chances = (counts[:-1] + 1) / (counts[:-1] + 1).sum()

    def error(count: int) -> float:
        """How far off one estimate is."""
        drawn = torch.from_numpy(random.choice(39, count, p=chances))
        weights = -torch.from_numpy(np.log(chances * count))[drawn]
        return abs(network.sampled_loss(contexts, targets, drawn, weights).item() - full)

    few, many = (np.mean([error(count) for _ in range(20)]) for count in (20, 5000))
    assert many < 0.1 * few


def test_a_model_of_the_sampled_softmax_is_nearly_as_good() -> None:
    full = train_nnlm(GRAMMAR, SMALL).perplexity(GRAMMAR)
    sampled = train_nnlm(GRAMMAR, replace(SMALL, softmax="sampled", negative_samples=30))
    assert sampled.perplexity(GRAMMAR) == pytest.approx(full, rel=0.02)


def test_rare_words_are_unknown() -> None:
    text = [["a", "b"], ["a", "b"], ["a", "c"]]
    brief = replace(SMALL, epochs=1)
    assert list(train_nnlm(text, replace(brief, min_count=2)).vectors()) == ["a", "b"]
    assert list(train_nnlm(text, replace(brief, max_vocab_size=1)).vectors()) == ["a"]
    model = train_nnlm(text, replace(brief, min_count=2))
    assert model.counts.tolist() == [3, 2, 1, 3, 3]  # a, b, <unk>, </s>, <s>
    assert model.score(text).unknown == 1


def test_ids_with_marks_are_taken_as_they_come() -> None:
    ids = np.array([0, UNKNOWN, 1, LINE_END, 1, 0], dtype=np.uint32)
    vocabulary = Vocabulary.of({"a": 2, "b": 2})
    model = train_nnlm(EncodedCorpus(ids, vocabulary), replace(SMALL, epochs=1))
    assert model.counts.tolist() == [2, 2, 1, 2, 2]
    assert model.score_ids(ids).tokens == 7


def test_progress_is_told_in_words() -> None:
    told: list[tuple[int, int]] = []
    train_nnlm(
        GRAMMAR,
        replace(SMALL, epochs=2),
        reporter=CallbackReporter(progress=lambda *pair: told.append(pair)),
    )
    assert told[-1] == (240, 240)
    assert told == sorted(told)


def test_the_pace_rises_at_once_and_falls_to_nothing() -> None:
    assert learning_rate_factor(0) == pytest.approx(0.01)
    assert learning_rate_factor(0.02) == pytest.approx(1)
    assert learning_rate_factor(0.51) == pytest.approx(0.5)
    assert learning_rate_factor(1) == 0


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"context": 0}, "context is 0: it must be at least 1"),
        ({"epochs": 0}, "epochs is 0"),
        ({"threads": 0}, "threads is 0"),
        ({"max_vocab_size": 0}, "max_vocab_size is 0"),
        ({"softmax": "half"}, "softmax must be one of full, sampled; got 'half'"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"dropout": float("nan")}, "dropout is nan"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidArgumentError, match=complaint):
        NNLM(**settings)


def test_text_that_cannot_be_learnt_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="the corpus has no words"):
        train_nnlm([[]])
    with pytest.raises(InvalidArgumentError, match="'</s>' is among the words"):
        train_nnlm([["a", "</s>"]])
    with pytest.raises(InvalidArgumentError, match="no word occurs 3 times"):
        train_nnlm([["a", "a"]], NNLM(min_count=3))
    with pytest.raises(InvalidArgumentError, match="id 7 is in the text, but there are 1 words"):
        train_nnlm(EncodedCorpus(np.array([7], dtype=np.uint32), Vocabulary.of({"a": 1})))


def test_a_model_that_runs_away_is_told() -> None:
    with pytest.raises(InvalidArgumentError, match=r"lower learning_rate \(now 1e\+30\)"):
        train_nnlm(GRAMMAR, replace(SMALL, learning_rate=1e30))


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependencyError, match=r"'torch'.* pip install 'malmoi\[train\]'"):
        train_nnlm(GRAMMAR)


class StopError(Exception):
    """Something that breaks a training off."""


RESUMED = [
    replace(SMALL, epochs=3, dropout=0.2, softmax="sampled", negative_samples=5),
    replace(SMALL, epochs=3, tied=False, batch_size=50),
]


def break_off(path: Path, settings: NNLM, words: int, *, resume: bool = False) -> None:
    """Train until so many words are learnt, and no further."""

    def stop(done: int, total: int) -> None:
        if done >= words:
            raise StopError

    with pytest.raises(StopError):
        train_nnlm(
            GRAMMAR,
            settings,
            options=TrainOptions(checkpoint=path, resume=resume),
            reporter=CallbackReporter(progress=stop),
        )


@pytest.mark.parametrize("settings", RESUMED)
@pytest.mark.parametrize("words", [1, 50, 120, 130, 250, 360])
def test_a_resumed_training_ends_with_the_same_bits(
    settings: NNLM, words: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("malmoi.files.checkpoint.SAVE_EVERY", 0.0)  # after every batch
    path = tmp_path / "x.checkpoint"
    break_off(path, settings, words)
    resumed = train_nnlm(GRAMMAR, settings, options=TrainOptions(checkpoint=path, resume=True))
    assert arrays(resumed) == arrays(train_nnlm(GRAMMAR, settings))


def test_a_training_may_be_broken_off_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "x.checkpoint"
    break_off(path, RESUMED[0], 130)
    break_off(path, RESUMED[0], 250, resume=True)
    told: list[int] = []
    resumed = train_nnlm(
        GRAMMAR,
        RESUMED[0],
        options=TrainOptions(checkpoint=path, resume=True),
        reporter=CallbackReporter(progress=lambda done, total: told.append(done)),
    )
    assert told[0] == 256  # two epochs of 120 words are not learnt again
    assert arrays(resumed) == arrays(train_nnlm(GRAMMAR, RESUMED[0]))


def test_only_the_same_training_is_resumed(tmp_path: Path) -> None:
    path, settings = tmp_path / "x.checkpoint", RESUMED[0]
    break_off(path, settings, 130)
    with pytest.raises(InvalidArgumentError, match="with seed 1, not 2"):
        train_nnlm(
            GRAMMAR, replace(settings, seed=2), options=TrainOptions(checkpoint=path, resume=True)
        )
    with pytest.raises(InvalidArgumentError, match="on another corpus"):
        train_nnlm(GRAMMAR[1:], settings, options=TrainOptions(checkpoint=path, resume=True))
    with pytest.warns(MalmoiWarning, match="is left over"):
        anew = train_nnlm(GRAMMAR[1:], settings, options=TrainOptions(checkpoint=path))
    assert arrays(anew) == arrays(train_nnlm(GRAMMAR[1:], settings))


@pytest.mark.parametrize("tensor", ["lookup", "generator", "hidden.weight exp_avg"])
def test_a_checkpoint_that_lacks_something_is_refused(tensor: str, tmp_path: Path) -> None:
    path = tmp_path / "x.checkpoint"
    break_off(path, RESUMED[0], 250)
    whole, metadata = read_safetensors(InputFile(path))
    for changed in ({}, {tensor: np.zeros(3, np.float32)}):
        rest = {name: array for name, array in whole.items() if name != tensor}
        write_safetensors(path, rest | changed, metadata)
        with pytest.raises(InvalidFileError, match=r"x\.checkpoint is damaged"):
            train_nnlm(GRAMMAR, RESUMED[0], options=TrainOptions(checkpoint=path, resume=True))
