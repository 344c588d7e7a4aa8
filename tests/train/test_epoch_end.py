"""Callbacks after each epoch: what they receive, that they change nothing, and how they stop."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import malmoi as mm

TEXT = [f"the word{i % 40} of word{i * 7 % 40} beside word{i * 11 % 40}" for i in range(400)]
EPOCHS = 4
Train = Callable[..., mm.Vectors]
WORDS: dict[str, Any] = {"dim": 16, "min_count": 1, "epochs": EPOCHS, "threads": 1}
GLOVE = mm.GloVe(dim=16, min_count=1, iterations=EPOCHS, threads=1)
TRAINERS: dict[str, tuple[Train, Any]] = {
    "word2vec": (mm.train_word2vec, mm.Word2Vec(**WORDS)),
    "tree": (mm.train_word2vec, mm.Word2Vec(**WORDS, loss="hierarchical-softmax")),
    "fasttext": (mm.train_fasttext, mm.FastText(**WORDS, buckets=1000)),
    "glove": (mm.train_glove, GLOVE),
}
every_trainer = pytest.mark.parametrize("name", TRAINERS)


def train(name: str, **options: Any) -> mm.Vectors:
    function, settings = TRAINERS[name]
    return function(TEXT, settings, options=mm.TrainOptions(**options))


@every_trainer
def test_each_epoch_calls_once_with_its_loss_and_its_vectors(name: str) -> None:
    ends: list[mm.EpochEnd] = []
    matrices = []

    def remember(end: mm.EpochEnd) -> None:
        ends.append(end)
        matrices.append(end.vectors.matrix)

    result = train(name, on_epoch_end=remember)
    assert [(end.epoch, end.epochs) for end in ends] == [(i + 1, EPOCHS) for i in range(EPOCHS)]
    assert [end.loss for end in ends] == json.loads(result.meta["losses"])
    assert all(one.shape == result.matrix.shape for one in matrices)
    assert not np.array_equal(matrices[0], matrices[1])  # copies: later epochs do not change them
    np.testing.assert_array_equal(matrices[-1], result.matrix)
    assert ends[1].vectors.keys == result.keys
    assert len(json.loads(ends[1].vectors.meta["losses"])) == 2


@every_trainer
def test_a_callback_changes_nothing(name: str) -> None:
    watched = train(name, on_epoch_end=lambda end: end.vectors)
    np.testing.assert_array_equal(watched.matrix, train(name).matrix)


@every_trainer
def test_stopping_keeps_the_vectors_so_far(name: str) -> None:
    matrices = []

    def stop(end: mm.EpochEnd) -> None:
        matrices.append(end.vectors.matrix)
        if end.epoch == 2:
            raise mm.StopTraining

    result = train(name, on_epoch_end=stop)
    assert len(matrices) == len(json.loads(result.meta["losses"])) == 2
    np.testing.assert_array_equal(result.matrix, matrices[-1])


@every_trainer
def test_a_stopped_training_can_be_resumed(name: str, tmp_path: Path) -> None:
    def stop(end: mm.EpochEnd) -> None:
        raise mm.StopTraining

    epochs: list[int] = []
    train(name, on_epoch_end=stop, checkpoint=tmp_path / "state")
    resumed = train(
        name,
        on_epoch_end=lambda end: epochs.append(end.epoch),
        checkpoint=tmp_path / "state",
        resume=True,
    )
    assert epochs == [2, 3, 4]
    np.testing.assert_array_equal(resumed.matrix, train(name).matrix)


def test_other_exceptions_are_the_callers() -> None:
    def fail(end: mm.EpochEnd) -> None:
        raise RuntimeError("of the callback")

    with pytest.raises(RuntimeError, match="of the callback"):
        train("word2vec", on_epoch_end=fail)


def test_vectors_are_made_only_when_they_are_used() -> None:
    ends: list[mm.EpochEnd] = []
    train("word2vec", on_epoch_end=ends.append)
    assert all("vectors" not in vars(end) for end in ends)


def test_several_threads_wait_for_each_other() -> None:
    long = mm.encode_corpus(mm.Corpus.of(TEXT * 40))
    losses: list[float | None] = []
    settings = mm.Word2Vec(dim=8, min_count=1, epochs=3, threads=2)
    options = mm.TrainOptions(on_epoch_end=lambda end: losses.append(end.loss))
    result = mm.train_word2vec(long, settings, options=options)
    assert losses == json.loads(result.meta["losses"])
    assert len(losses) == 3


@pytest.mark.parametrize("name", ["word2vec", "fasttext", "glove"])
def test_some_words_can_be_frozen(name: str) -> None:
    first = train(name)
    again = train(name, init_vectors=first, freeze=["word3", "word7", "not in the text"])
    same = [word for word in first if np.array_equal(first[word], again[word])]
    assert sorted(same) == ["word3", "word7"]


def test_a_string_is_not_a_list_of_words() -> None:
    with pytest.raises(mm.InvalidArgumentError, match="give a list of words"):
        mm.TrainOptions(init_vectors=train("word2vec"), freeze="word3")


def test_training_by_a_tree_continues_with_its_inner_nodes() -> None:
    first = train("tree")
    assert first.context_matrix is not None
    assert first.context_matrix.any()
    known = train("tree", init_vectors=first)
    plain = mm.Vectors(first.keys, first.matrix, first.counts)
    unknown = train("tree", init_vectors=plain)
    losses = [json.loads(one.meta["losses"])[0] for one in (known, unknown)]
    assert losses[0] < losses[1]


def test_output_rows_of_a_tree_are_not_those_of_words() -> None:
    tree = train("tree")
    settings = mm.Word2Vec(**WORDS)
    with_tree, without = (
        mm.train_word2vec(TEXT, settings, options=mm.TrainOptions(init_vectors=one))
        for one in (tree, mm.Vectors(tree.keys, tree.matrix, tree.counts))
    )
    np.testing.assert_array_equal(with_tree.matrix, without.matrix)
