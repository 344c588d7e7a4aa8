"""GloVe's kernel beside its twin, record by record."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.arrays import Float32Array, Int64Array
from malmoi.kernels.core.jit import readonly_view
from malmoi.kernels.glove.glove_steps import FIXED, learn_groups
from malmoi.train.glove.tables import TablePair, random_tables, split_tables, width_of
from malmoi.vocabulary import Vocabulary
from tests import naive

WORDS = 9
RATE = np.float32(0.05)


def some_records(count: int, seed: int) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Groups of up to five records: where they end, and the rows and columns of all."""
    random = np.random.default_rng(seed)
    bounds = np.unique(np.r_[0, np.cumsum(random.integers(1, 6, count)), count])
    bounds = bounds[bounds <= count]
    rows = random.integers(0, WORDS, len(bounds) - 1)
    return bounds, rows, random.integers(0, WORDS, count)


def learnt(tables: TablePair, count: int, seed: int, rate: np.float32 = RATE) -> float:
    bounds, rows, columns = some_records(count, seed)
    logs, weights = some_numbers(count)
    losses = np.full(3, -1.0)
    order = np.random.default_rng(seed).permutation(len(rows)).astype(np.uint32)
    learn_groups(
        order,
        bounds,
        rows.astype(np.uint32),
        readonly_view(columns.astype(np.uint32)),
        logs,
        weights,
        *tables,
        rate,
        losses,
        1,
    )
    assert losses[0] == losses[2] == -1
    return float(losses[1])


def some_numbers(count: int) -> tuple[Float32Array, Float32Array]:
    random = np.random.default_rng(count)
    return (
        random.normal(1, 2, count).astype(np.float32),
        random.random(count).astype(np.float32),
    )


@given(st.integers(1, 40), st.integers(1, 200), st.integers(0, 5))
def test_learning_is_that_of_the_twin(dim: int, count: int, seed: int) -> None:
    tables = random_tables(WORDS, dim, seed)
    vocabulary = Vocabulary.of({f"w{i}": 1 for i in range(WORDS)})
    before = split_tables(tables, vocabulary, dim, ())
    twin = naive.GloVe(before.words, before.contexts, before.word_biases, before.context_biases)
    bounds, rows, columns = some_records(count, seed)
    logs, weights = some_numbers(count)
    expected = 0.0
    for group in np.random.default_rng(seed).permutation(len(rows)):
        for i in range(bounds[group], bounds[group + 1]):
            record = rows[group], columns[i], float(logs[i]), float(weights[i])
            expected += twin.learn(*record, float(RATE))
    assert learnt(tables, count, seed) == pytest.approx(expected, rel=1e-5)
    after = split_tables(tables, vocabulary, dim, ())
    for ours, theirs in zip(
        (after.words, after.contexts, after.word_biases, after.context_biases),
        twin.numbers,
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    width = width_of(dim)
    for table, squares, one in zip(tables, twin.squares, (dim + 1, dim), strict=False):
        np.testing.assert_allclose(table[:, width : width + dim], squares, rtol=1e-4)
        assert np.all(table[:, one] == 1)
        assert np.all(table[:, dim + 2 : width] == 0)


def test_what_is_fixed_does_not_move() -> None:
    tables = random_tables(WORDS, 10, 1)
    for table in tables:
        table[:4, :10] = 0.25
        table[:4, 16:26] = FIXED
    before = [table.copy() for table in tables]
    learnt(tables, 200, 1)
    for table, old in zip(tables, before, strict=True):
        np.testing.assert_array_equal(table[:4, :10], old[:4, :10])
        assert np.all(table[4:, :10] != old[4:, :10])
        assert np.all(np.isfinite(table))


def test_nothing_to_learn() -> None:
    none, ids = np.empty(0, dtype=np.float32), np.empty(0, dtype=np.uint32)
    losses = np.full(1, -1.0)
    tables = random_tables(WORDS, 3, 1)
    learn_groups(
        ids, np.zeros(1, np.int64), ids, readonly_view(ids), none, none, *tables, RATE, losses, 0
    )
    assert losses[0] == 0


@pytest.mark.parametrize("dim", [1, 6, 7, 100, 300])
def test_rows_are_whole_lines(dim: int) -> None:
    assert width_of(dim) >= dim + 2
    for table in random_tables(WORDS, dim, 1):
        assert table.ctypes.data % 64 == 0
        assert table.strides[0] % 64 == 0
