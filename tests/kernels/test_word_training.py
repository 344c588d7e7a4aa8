from typing import Any

import numpy as np
import pytest

from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.kernels.word2vec.random import alias_table, seeded
from malmoi.kernels.word2vec.rows import aligned_rows, padded_width
from malmoi.kernels.word2vec.train_words import Plan, WordNetwork, Words, train_words
from malmoi.train.word2vec.settings import WordSettings
from malmoi.train.word2vec.trainer import Word2VecTrainer, keep_probabilities
from tests import naive_words

WORDS, DIM = 30, 20
COUNTS = np.arange(WORDS, 0, -1, dtype=np.int64) ** 2


def stream(seed: int, length: int = 400) -> list[int]:
    """Words, now and then an unknown one or the end of a line."""
    random = np.random.default_rng(seed)
    drawn = random.choice(WORDS, length, p=COUNTS / COUNTS.sum()).tolist()
    marks = random.random(length)
    return [
        LINE_END if mark < 0.06 else UNKNOWN if mark < 0.1 else word
        for word, mark in zip(drawn, marks, strict=True)
    ]


def subword_lists(subwords: bool) -> tuple[np.ndarray, np.ndarray, int]:
    """Rows of each word: its own, and perhaps some that it shares."""
    random = np.random.default_rng(5)
    lists = [
        [word, *(WORDS + random.permutation(12)[: random.integers(0, 5)]).tolist()]
        if subwords
        else [word]
        for word in range(WORDS)
    ]
    starts = np.cumsum([0, *map(len, lists)])
    return starts, np.array([row for each in lists for row in each], np.int32), WORDS + 12


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
@pytest.mark.parametrize("softmax", ["negative-sampling", "hierarchical-softmax"])
@pytest.mark.parametrize("subwords", [False, True])
@pytest.mark.parametrize("frozen", [None, 3])
@pytest.mark.parametrize("negatives", [5, 13])
def test_the_kernel_does_what_its_naive_twin_does(
    architecture: str, softmax: str, subwords: bool, frozen: int | None, negatives: int
) -> None:
    settings = WordSettings(
        dim=DIM,
        architecture=architecture,  # type: ignore[arg-type]
        loss=softmax,  # type: ignore[arg-type]
        negative_samples=negatives,
        window=3,
        threads=1,
    )
    starts, rows, count = subword_lists(subwords)
    shares = 1 / (1 + np.arange(WORDS) % 3) if subwords else np.ones(WORDS)
    moves = np.where(np.arange(WORDS) == frozen, 0, shares).astype(np.float32)
    words = Words(keep_probabilities(COUNTS, 0.05), starts, rows, moves)
    random = np.random.default_rng(1)
    inputs, outputs = (aligned_rows(each, padded_width(DIM)) for each in (count, WORDS))
    inputs[:, :DIM] = random.normal(size=(count, DIM))
    outputs[:, :DIM] = random.normal(size=(WORDS, DIM)) / 3
    expected = inputs.astype(np.float64), outputs.astype(np.float64)
    ids = stream(2)
    learning = Word2VecTrainer(
        np.array(ids, np.uint32), words, WordNetwork(inputs, outputs), COUNTS, settings
    )
    assert learning.is_direct == (architecture == "cbow" and not subwords and frozen is None)
    plan = Plan(architecture == "skip-gram", learning.is_direct, 3, True, 0.05, 1e-5, 4)
    loss = naive_words.train(ids, words, *expected, learning.targets, plan, seed=1, part=7)
    result = np.full(2, -1.0)
    workspace = learning._workspaces.get()
    given = words, WordNetwork(inputs, outputs), learning.targets, plan
    train_words(np.array(ids, np.uint32), 0, len(ids), *given, seeded(1, 7), workspace, result)
    np.testing.assert_allclose(inputs, expected[0], atol=2e-5)
    np.testing.assert_allclose(outputs, expected[1], atol=2e-5)
    np.testing.assert_allclose(result, loss, rtol=1e-5)
    assert loss[1] > 0
    assert np.all(workspace.slots == -1)


@pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
@pytest.mark.parametrize("negatives", [1, 5, 7])
def test_a_row_that_is_no_target_has_no_part_in_a_window(architecture: str, negatives: int) -> None:
    options: Any = {"architecture": architecture, "negative_samples": negatives}
    settings = WordSettings(dim=DIM, threads=1, **options)
    starts, rows, _ = subword_lists(False)
    words = Words(keep_probabilities(COUNTS, 0), starts, rows, np.ones(WORDS, np.float32))
    inputs, outputs = (aligned_rows(WORDS, padded_width(DIM)) for _ in range(2))
    inputs[:, :DIM] = np.random.default_rng(1).normal(size=(WORDS, DIM))
    outputs[0] = np.inf
    ids = np.array([id for id in stream(2) if id != 0], np.uint32)
    learning = Word2VecTrainer(ids, words, WordNetwork(inputs, outputs), COUNTS, settings)
    targets = learning.targets._replace(table=alias_table((np.arange(WORDS) > 0).astype(float)))
    plan = Plan(architecture == "skip-gram", learning.is_direct, 3, True, 0.05, 0.0, 1)
    given = words, WordNetwork(inputs, outputs), targets, plan
    result = np.full(2, -1.0)
    train_words(ids, 0, len(ids), *given, seeded(1, 7), learning._workspaces.get(), result)
    assert np.isfinite(inputs).all()
    assert np.isfinite(outputs[1:]).all()
    assert np.isfinite(result).all()
