"""Products with panels, and what a transformer is made of, beside NumPy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malmoi.encode.panels import lay_bytes, lay_floats
from malmoi.kernels import byte_products
from malmoi.kernels.byte_products import Rounded, round_rows
from malmoi.kernels.compiled import compiled, readily_compiled
from malmoi.kernels.curves import decay, exact_gelu, exponentials, tanh_gelu
from malmoi.kernels.dense import EXACT, NOT_BENT, TANH, multiply_bytes, multiply_floats
from malmoi.kernels.meeting import Team
from malmoi.kernels.products import PANEL, USABLE
from malmoi.vectors import Matrix

needs_vectors = pytest.mark.skipif(not USABLE, reason="this processor has no AVX2 with FMA")
needs_bytes = pytest.mark.skipif(not byte_products.USABLE, reason="this processor has no VNNI")
COUNTER = np.zeros(1, np.int64)


def random(seed: int, *shape: int) -> Matrix:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def room(rows: int, depth: int) -> Rounded:
    lanes = np.zeros(16, np.float32)
    whole = np.zeros((rows, depth), np.uint8)
    return Rounded(whole, np.zeros(rows, np.float32), np.zeros(depth, np.float32), lanes)


def gelu(x: Matrix, bend: int) -> Matrix:
    if bend == EXACT:
        return np.asarray(x * (1 + np.vectorize(math.erf)(x / np.sqrt(2))) / 2)
    return np.asarray(x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2)


@needs_vectors
@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 70), st.integers(1, 2 * PANEL + 5), st.integers(1, 3))
def test_a_product_in_panels_is_the_product(
    rows: int, depth: int, columns: int, parts: int
) -> None:
    given_rows, matrix, bias = random(1, rows, depth), random(2, depth, columns), random(3, columns)
    dense = lay_floats([(random(4, depth, columns), bias), (matrix, bias)])
    out = np.full((rows, dense.biases.shape[1]), np.nan, np.float32)
    for part in range(parts):
        team = Team(part, parts, COUNTER)
        multiply_floats(given_rows, dense, 1, out, room(0, 0), team, NOT_BENT)
    np.testing.assert_allclose(out[:, :columns], given_rows @ matrix + bias, atol=1e-4)
    assert not out[:, columns:].any()


@needs_vectors
@pytest.mark.parametrize("bend", [EXACT, TANH])
def test_a_product_is_bent_where_it_is_asked_for(bend: int) -> None:
    rows, matrix, bias = random(1, 11, 32), random(2, 32, 60), random(3, 60)
    dense = lay_floats([(matrix, bias)])
    out = np.zeros((11, 2 * PANEL), np.float32)
    multiply_floats(rows, dense, 0, out, room(0, 0), Team(0, 1, COUNTER), bend)
    np.testing.assert_allclose(out[:, :60], gelu(rows @ matrix + bias, bend), atol=1e-5)


@needs_bytes
@settings(max_examples=25, deadline=None)
@given(st.integers(1, 30), st.integers(1, 20), st.integers(1, PANEL + 5))
def test_a_product_in_bytes_is_that_of_the_rounded_numbers(
    rows: int, fours: int, columns: int
) -> None:
    depth = 4 * fours
    given_rows, matrix, bias = random(1, rows, depth), random(2, depth, columns), random(3, columns)
    dense, rounded = lay_bytes([(matrix, bias)]), room(rows, depth)
    out = np.zeros((rows, -(-columns // PANEL) * PANEL), np.float32)
    multiply_bytes(given_rows, dense, 0, out, rounded, Team(0, 1, COUNTER), NOT_BENT)
    scales = np.abs(matrix).max(axis=0) / 127
    row_scales = np.abs(given_rows).max(axis=1, keepdims=True) / 127
    whole = np.floor(given_rows / row_scales + 0.5) @ np.rint(matrix / scales)
    expected = whole * row_scales * scales + bias
    np.testing.assert_allclose(out[:, :columns], expected, rtol=1e-3, atol=1e-3)


@needs_bytes
def test_a_row_in_bytes_is_wrong_by_half_a_step_at_most() -> None:
    rows = random(5, 6, 64)
    rows[2] = 0
    rounded = room(6, 64)
    round_rows(rows, 64, rounded)
    back = (rounded.bytes.astype(np.float32) - 128) * rounded.scales[:, np.newaxis]
    assert np.all(np.abs(back - rows) <= 0.5001 * rounded.scales[:, np.newaxis])
    assert not back[2].any()


@compiled
def curve_of(which: int, x: Matrix) -> None:
    for i in range(len(x)):
        x[i] = decay(x[i]) if which == 0 else exact_gelu(x[i]) if which == 1 else tanh_gelu(x[i])


def test_curves_are_those_of_single_precision() -> None:
    x = np.linspace(-12, 12, 4001).astype(np.float32)
    expected = [np.exp(np.minimum(x, 0)), gelu(x, EXACT), gelu(x, TANH)]
    for which, right in enumerate(expected):
        found = np.minimum(x, 0) if which == 0 else x.copy()
        curve_of(which, found)
        np.testing.assert_allclose(found, right, atol=5e-7, rtol=2e-6)


@readily_compiled
def exponentials_of(row: Matrix, count: int, lanes: Matrix) -> float:
    return float(exponentials(row, count, lanes))


@pytest.mark.parametrize("count", [1, 5, 16, 17, 40])
def test_softmax_is_that_of_numpy(count: int) -> None:
    row = 30 * random(count, 40)
    expected = np.exp(row[:count] - row[:count].max())
    total = exponentials_of(found := row.copy(), count, np.zeros(16, np.float32))
    np.testing.assert_allclose(found[:count] / total, expected / expected.sum(), atol=1e-6)
    assert found[count:].tolist() == row[count:].tolist()
