"""The kernels of static encoders beside their twins, and beside finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.arrays import Float32Array
from malmoi.encode.static.static_encoder import mean_rows
from malmoi.encode.static.token_lookup import Tokens
from malmoi.kernels.static.pool_rows import pool_rows
from malmoi.kernels.static.token_trainer import TokenKernel
from malmoi.vectors import l2_normalize
from tests import naive_static

ROWS = 7
Texts = list[list[int]]
SOME_TEXTS = st.lists(st.lists(st.integers(0, ROWS - 1), max_size=6), min_size=1, max_size=30)


def flat(texts: Texts) -> Tokens:
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    return offsets, np.array([i for text in texts for i in text], np.int32)


def some_table(dim: int, rows: int = ROWS) -> Float32Array:
    return np.random.default_rng(dim).normal(size=(rows, dim)).astype(np.float32)


@given(SOME_TEXTS, st.sampled_from([2, 3, 16, 33]))
def test_pooling_is_that_of_the_twin_and_has_the_bits_of_numpy(texts: Texts, dim: int) -> None:
    table = some_table(dim)
    ours = pool_rows(*flat(texts), table)
    twin = [naive_static.mean_of_rows(table.astype(np.float64), text) for text in texts]
    np.testing.assert_allclose(ours, twin, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(ours, mean_rows(*flat(texts), table))


@given(SOME_TEXTS, st.sampled_from([1, 3, 16, 33]), st.sampled_from([0.05, 0.5]))
def test_learning_of_targets_is_that_of_the_twin(texts: Texts, dim: int, rate: float) -> None:
    table, order = some_table(dim), np.random.default_rng(1).permutation(len(texts))
    targets = l2_normalize(some_table(dim, len(texts)))
    twin = naive_static.TokenTable(table.astype(np.float64))
    expected = sum(twin.learn_target(texts[i], targets[i].astype(float), rate) for i in order)
    losses, kernel = np.full(3, -1.0), TokenKernel(*flat(texts), table)
    kernel.learn_targets(order.astype(np.uint32), targets, rate, losses, 1)
    assert losses[0] == losses[2] == -1
    if dim > 1:  # else all cosines are 1 or -1, and gradients are nothing but rounding
        assert losses[1] == pytest.approx(expected, rel=1e-3, abs=1e-3)
        np.testing.assert_allclose(table, twin.table, rtol=2e-2, atol=2e-2)


@given(SOME_TEXTS, st.sampled_from([3, 16, 33]))
def test_learning_of_pairs_is_that_of_the_twin(texts: Texts, dim: int) -> None:
    table, random = some_table(dim), np.random.default_rng(1)
    pairs = random.integers(0, len(texts), (20, 2)).astype(np.int32)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]  # a text has the cosine 1 with itself
    scores = random.random(len(pairs)).astype(np.float32)
    twin = naive_static.TokenTable(table.astype(np.float64))
    expected = sum(
        twin.learn_pair(texts[one], texts[other], float(score), 0.05)
        for (one, other), score in zip(pairs, scores, strict=True)
    )
    losses, kernel = np.zeros(1), TokenKernel(*flat(texts), table)
    kernel.learn_pairs(np.arange(len(pairs), dtype=np.uint32), pairs, scores, 0.05, losses, 0)
    assert losses[0] == pytest.approx(expected, rel=1e-2, abs=1e-3)
    np.testing.assert_allclose(table, twin.table, rtol=2e-2, atol=2e-2)


def test_the_first_step_is_as_long_as_the_rate_and_follows_the_gradient() -> None:
    texts, table = [[0, 1, 2]], some_table(8)
    before, target = table.astype(np.float64), l2_normalize(some_table(8)[3:4])

    def loss(row: np.ndarray) -> float:
        total = before[:3].sum(axis=0) + row
        return 1 - float(total @ target[0] / np.linalg.norm(total))

    tiny = 1e-6 * np.eye(8)
    gradient = np.array([(loss(each) - loss(-each)) / 2e-6 for each in tiny])
    TokenKernel(*flat(texts), table).learn_targets(
        np.zeros(1, np.uint32), target, 0.1, np.zeros(1), 0
    )
    for row in range(3):
        moved = table[row] - before[row]
        assert np.linalg.norm(moved) == pytest.approx(0.1, rel=1e-4)
        np.testing.assert_allclose(
            moved / 0.1, -gradient / np.linalg.norm(gradient), rtol=1e-3, atol=1e-4
        )
    np.testing.assert_array_equal(table[3:], before[3:].astype(np.float32))


def test_repeated_learning_reaches_its_targets() -> None:
    texts, table = [[i] for i in range(ROWS)], some_table(16)
    targets, losses = l2_normalize(some_table(16)[::-1].copy()), np.zeros(1)
    kernel = TokenKernel(*flat(texts), table)
    for _ in range(200):
        kernel.learn_targets(np.arange(ROWS, dtype=np.uint32), targets, 0.5, losses, 0)
    assert losses[0] / ROWS < 1e-3


def test_ids_beyond_the_table_are_refused() -> None:
    offsets, ids = flat([[0, ROWS]])
    with pytest.raises(ValueError, match=f"ids has values from 0 to {ROWS}"):
        TokenKernel(offsets, ids, some_table(4))
    with pytest.raises(ValueError, match="ids has values"):
        pool_rows(offsets, ids, some_table(4))


def test_targets_of_another_size_are_refused() -> None:
    kernel = TokenKernel(*flat([[0], [1]]), some_table(4))
    with pytest.raises(ValueError, match="targets"):
        kernel.learn_targets(np.zeros(1, np.uint32), some_table(5, 2), 0.1, np.zeros(1), 0)
    with pytest.raises(ValueError, match="chunk is 1"):
        kernel.learn_targets(np.zeros(1, np.uint32), some_table(4, 2), 0.1, np.zeros(1), 1)
