"""Dot products with rows kept as bytes, beside NumPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.arrays import Float32Array, Int8Array
from malmoi.kernels.nearest.int8_scores import LANES, score_int8_rows
from tests import naive


def random_tiles(tiles: int, dim: int, seed: int) -> tuple[Int8Array, Float32Array, Float32Array]:
    random = np.random.default_rng(seed)
    return (
        random.integers(-127, 128, (tiles, dim, LANES), dtype=np.int8),
        random.uniform(0, 0.01, (tiles, LANES)).astype(np.float32),
        random.normal(size=dim).astype(np.float32),
    )


@given(st.integers(0, 4), st.integers(0, 40), st.integers(0, 9))
def test_products_are_those_of_the_twin(tiles: int, dim: int, seed: int) -> None:
    rows, scales, direction = random_tiles(tiles, dim, seed)
    out = np.full((tiles, LANES), np.nan, np.float32)
    best = np.empty(tiles, np.float32)
    score_int8_rows(rows, scales, direction, out, best, 0, tiles)
    np.testing.assert_array_equal(best, out.max(axis=1))
    np.testing.assert_allclose(out, naive.screen(rows, scales, direction), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("first", "last"), [(0, 1), (1, 3), (2, 2)])
def test_only_the_tiles_asked_for_are_computed(first: int, last: int) -> None:
    rows, scales, direction = random_tiles(3, 8, 1)
    out = np.full((3, LANES), np.nan, np.float32)
    score_int8_rows(rows, scales, direction, out, np.empty(3, np.float32), first, last)
    touched = ~np.isnan(out).any(axis=1)
    assert touched.tolist() == [first <= tile < last for tile in range(3)]


def test_every_byte_is_taken_with_its_sign() -> None:
    rows = np.zeros((4, 1, LANES), np.int8)
    rows.reshape(-1)[:] = np.arange(-128, 128).astype(np.int8)
    out = np.zeros((4, LANES), np.float32)
    ones, best = np.ones((4, LANES), np.float32), np.empty(4, np.float32)
    score_int8_rows(rows, ones, np.ones(1, np.float32), out, best, 0, 4)
    assert out.reshape(-1).tolist() == list(range(-128, 128))
