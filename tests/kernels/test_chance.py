import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from malmoi.arrays import UInt64Array
from malmoi.kernels.core.jit import jit
from malmoi.kernels.word2vec.random import (
    PROBABILITY_ONE,
    alias_table,
    below,
    draw,
    random_bits,
    seeded,
)
from tests import naive_words


@jit
def many_bits(state: UInt64Array, out: npt.NDArray[np.uint64]) -> None:
    for i in range(len(out)):
        out[i] = random_bits(state)


@jit
def many_below(state: UInt64Array, count: int, out: npt.NDArray[np.int64]) -> None:
    for i in range(len(out)):
        out[i] = below(state, count)


@jit
def many_drawn(
    state: UInt64Array, table: npt.NDArray[np.uint32], out: npt.NDArray[np.int64]
) -> None:
    for i in range(len(out)):
        out[i] = draw(state, table)


def test_the_generator_is_xorshift_star() -> None:
    out = np.empty(100, np.uint64)
    many_bits(seeded(3, 4), out)
    following = naive_words.random_bits(3, 4)
    assert out.tolist() == [following() for _ in range(100)]


def test_parts_and_seeds_have_chances_of_their_own() -> None:
    states = {int(seeded(seed, part)[0]) for seed in range(50) for part in range(200)}
    assert len(states) == 50 * 200
    assert 0 not in states


def test_numbers_below_a_bound_are_even() -> None:
    out = np.empty(60_000, np.int64)
    many_below(seeded(1, 1), 6, out)
    counts = np.bincount(out, minlength=6)
    assert len(counts) == 6
    np.testing.assert_allclose(counts, 10_000, rtol=0.05)


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=50))
def test_the_table_gives_everything_its_share(weights: list[float]) -> None:
    table = alias_table(np.array(weights))
    chances = (table[:, 0].astype(np.float64) + 1) / (PROBABILITY_ONE + 1)
    shares = chances.copy()
    np.add.at(shares, table[:, 1], 1 - chances)
    expected = np.array(weights) / sum(weights)
    np.testing.assert_allclose(shares / len(weights), expected, atol=1e-7)


def test_draws_follow_the_weights() -> None:
    weights = np.array([5.0, 0.5, 3.0, 1.5])
    out = np.empty(200_000, np.int64)
    many_drawn(seeded(9, 0), alias_table(weights), out)
    np.testing.assert_allclose(np.bincount(out) / len(out), weights / 10, atol=0.004)
