"""Trainings refuse what their kernels would overrun, in the process that asked for them."""

from typing import Any

import numpy as np
import pytest

from malmoi.kernels.glove.glove_trainer import GloVeKernel
from malmoi.kernels.word2vec.random import seeded
from malmoi.kernels.word2vec.train_words import Plan, Targets, WordNetwork, Words
from malmoi.kernels.word2vec.word_trainer import Word2VecKernel
from malmoi.text.encoded import EncodedCorpus
from malmoi.train.common.inputs import encode_token_lists
from malmoi.train.glove.glove import train_glove
from malmoi.train.glove.settings import GloVe
from malmoi.train.word2vec.fasttext import FastText, train_fasttext
from malmoi.train.word2vec.trainer import Word2VecTrainer
from malmoi.train.word2vec.word2vec import Word2Vec, train_word2vec
from tests.train.worlds import lines

WORDS = 4
SMALL: dict[str, Any] = {"dim": 16, "epochs": 1, "min_count": 1, "subsample": 0}


def words(**changed: Any) -> Words:
    own: dict[str, Any] = {
        "keep": np.full(WORDS, 2**32 - 1, np.uint32),
        "starts": np.arange(WORDS + 1),
        "rows": np.arange(WORDS, dtype=np.int32),
        "moves": np.ones(WORDS, np.float32),
    }
    return Words(**(own | changed))


def targets(**changed: Any) -> Targets:
    table = np.zeros((WORDS, 2), np.uint32)
    none = np.zeros(0, np.int32)
    own = (2, table, np.zeros(1, np.int64), none, none.astype(np.uint8))
    return Targets(*own)._replace(**changed)


def network(rows: int = WORDS, width: int = 16) -> WordNetwork:
    return WordNetwork(np.zeros((rows, width), np.float32), np.zeros((WORDS, width), np.float32))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ((words(rows=np.full(WORDS, WORDS, np.int32)), network(), targets()), "rows has values"),
        ((words(starts=np.arange(WORDS + 1) * 2), network(), targets()), "starts does not rise"),
        ((words(starts=np.zeros(WORDS + 1, int)), network(), targets()), "no input row"),
        ((words(keep=np.zeros(1, np.uint32)), network(), targets()), "starts is"),
        ((words(), network(width=20), targets()), "a multiple of 16"),
        ((words(), network(rows=3), targets()), "rows has values from 0 to 3"),
        ((words(), network(), targets(table=np.full((2, 2), 9, np.uint32))), "10 words need"),
        ((words(), network(), targets(negative_samples=-1)), "negative_samples is -1"),
        ((words(), network(), targets(table=np.zeros((0, 2), np.uint32))), "starts is"),
    ],
)
def test_a_network_that_does_not_fit_is_refused(made: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Word2VecKernel(*made)


def learning() -> Word2VecTrainer:
    own = words()
    stream = np.array([0, 1, 2, 3], np.uint32)
    return Word2VecTrainer(stream, own, network(), np.ones(WORDS, int), Word2Vec(**SMALL, window=2))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"contexts": np.zeros(2, np.int32)}, "row_counts is"),
        ({"slots": np.zeros(3, np.int32)}, "slots is"),
        ({"targets": np.zeros((2, 2), np.int32)}, "labels is"),
        ({"hidden": np.zeros((2, 16), np.float32)}, "hidden is"),
    ],
)
def test_a_workspace_that_is_too_small_is_refused(changed: Any, message: str) -> None:
    learns = learning()
    workspace = learns._workspaces.get()._replace(**changed)
    plan = Plan(True, False, 2, True, 0.1, 0.0, 1)
    result, ids = np.zeros(2), np.zeros(3, np.uint32)
    with pytest.raises(ValueError, match=message):
        learns._kernel.train(ids, plan, seeded(1, 1), workspace, result)


def test_a_window_wider_than_its_workspace_is_refused() -> None:
    learns = learning()
    plan = Plan(True, False, 9, True, 0.1, 0.0, 1)
    with pytest.raises(ValueError, match="has 4 contexts"):
        learns._kernel.train(
            np.zeros(3, np.uint32), plan, seeded(1, 1), learns._workspaces.get(), np.zeros(2)
        )


@pytest.mark.parametrize("softmax", ["negative-sampling", "hierarchical-softmax"])
@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
def test_an_id_beyond_the_vocabulary_ends_in_an_error_and_not_in_a_crash(
    architecture: Any, softmax: Any
) -> None:
    corpus = encode_token_lists(line.split() for line in lines(20))
    ids, vocabulary = corpus.ids, corpus.vocabulary
    spoilt = ids.copy()
    spoilt[5] = 3_000_000_000
    kind = {"architecture": architecture, "softmax": softmax}
    with pytest.raises(ValueError, match=r"3000000000|3,000,000,000"):
        train_word2vec(EncodedCorpus(spoilt, vocabulary), Word2Vec(**SMALL, **kind))
    with pytest.raises(ValueError, match=r"3000000000|3,000,000,000"):
        train_fasttext(EncodedCorpus(spoilt, vocabulary), FastText(**SMALL, **kind, buckets=50))


def test_glove_refuses_ids_beyond_the_vocabulary() -> None:
    corpus = encode_token_lists(line.split() for line in lines(20))
    ids, vocabulary = corpus.ids, corpus.vocabulary
    spoilt = ids.copy()
    spoilt[5] = 3_000_000_000
    with pytest.raises(ValueError, match=r"3000000000|3,000,000,000"):
        train_glove(EncodedCorpus(spoilt, vocabulary), GloVe(dim=4, min_count=1))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rows": [0, 2]}, "rows has values"),
        ({"columns": [0, 1, 5]}, "columns has values"),
        ({"bounds": [0, 2, 4]}, "bounds does not rise"),
        ({"bounds": [0, 3]}, "rows is"),
    ],
)
def test_records_that_do_not_fit_are_refused(changed: dict[str, Any], message: str) -> None:
    given = {"bounds": [0, 2, 3], "rows": [0, 1], "columns": [0, 1, 1]} | changed
    bounds = np.array(given["bounds"], np.int64)
    rows, columns = (np.array(given[name], np.uint32) for name in ("rows", "columns"))
    numbers, tables = np.ones(3, np.float32), np.ones((2, 2, 8), np.float32)
    with pytest.raises(ValueError, match=message):
        GloVeKernel((bounds, rows), columns, numbers, numbers, (tables[0], tables[1]))


def test_groups_that_are_not_there_are_refused() -> None:
    bounds, numbers = np.array([0, 2, 3]), np.ones(3, np.float32)
    rows, columns = np.array([0, 1], np.uint32), np.array([0, 1, 1], np.uint32)
    tables = np.ones((2, 2, 8), np.float32)
    trainer = GloVeKernel((bounds, rows), columns, numbers, numbers, (tables[0], tables[1]))
    losses, rate = np.zeros(1), np.float32(0.1)
    trainer.learn(np.array([1, 0], np.uint32), rate, losses, 0)
    with pytest.raises(ValueError, match="order has values from 0 to 2"):
        trainer.learn(np.array([0, 2], np.uint32), rate, losses, 0)
    with pytest.raises(ValueError, match="chunk is 1"):
        trainer.learn(np.array([0], np.uint32), rate, losses, 1)
