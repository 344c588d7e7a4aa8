"""Products with panels, and what a transformer is made of, beside NumPy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malmoi.arrays import Float32Array
from malmoi.encode.runtime.packed_weights import pack_float32
from malmoi.kernels.core.barrier import ThreadContext
from malmoi.kernels.core.jit import jit, jit_finite
from malmoi.kernels.core.llvm import SIMD_WIDTH
from malmoi.kernels.transformer.activations import (
    exp_nonpositive,
    exp_shifted,
    gelu_exact,
    gelu_tanh,
)
from malmoi.kernels.transformer.dense import GELU_EXACT, GELU_TANH, NO_ACTIVATION, dense_float32
from malmoi.kernels.transformer.gemm import IS_SUPPORTED, PANEL
from malmoi.kernels.transformer.gemm_quantized import new_quantized_rows
from malmoi.kernels.transformer.row_max import row_abs_max, row_max

needs_vectors = pytest.mark.skipif(not IS_SUPPORTED, reason="this processor has no AVX2 with FMA")
NOTHING = new_quantized_rows(0, 0, np.uint8)
COUNTER = np.zeros(1, np.int64)


def random(seed: int, *shape: int) -> Float32Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def gelu(x: Float32Array, bend: int) -> Float32Array:
    if bend == GELU_EXACT:
        return np.asarray(x * (1 + np.vectorize(math.erf)(x / np.sqrt(2))) / 2)
    return np.asarray(x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2)


@needs_vectors
@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 70), st.integers(1, 2 * PANEL + 5), st.integers(1, 3))
def test_a_product_in_panels_is_the_product(
    rows: int, depth: int, columns: int, parts: int
) -> None:
    given_rows, matrix, bias = random(1, rows, depth), random(2, depth, columns), random(3, columns)
    dense = pack_float32([(random(4, depth, columns), bias), (matrix, bias)])
    out = np.full((rows, dense.biases.shape[1]), np.nan, np.float32)
    for part in range(parts):
        team = ThreadContext(part, parts, COUNTER)
        dense_float32(given_rows, dense, 1, out, NOTHING, team, NO_ACTIVATION)
    np.testing.assert_allclose(out[:, :columns], given_rows @ matrix + bias, atol=1e-4)
    assert not out[:, columns:].any()


@needs_vectors
@pytest.mark.parametrize("bend", [GELU_EXACT, GELU_TANH])
@pytest.mark.parametrize("columns", [1, PANEL - 1, PANEL, PANEL + 1, 60, 3 * PANEL])
def test_a_product_is_bent_where_it_is_asked_for(bend: int, columns: int) -> None:
    rows, matrix, bias = random(1, 11, 32), random(2, 32, columns), random(3, columns)
    dense = pack_float32([(matrix, bias)])
    out = np.zeros((11, dense.biases.shape[1]), np.float32)
    dense_float32(rows, dense, 0, out, NOTHING, ThreadContext(0, 1, COUNTER), bend)
    np.testing.assert_allclose(out[:, :columns], gelu(rows @ matrix + bias, bend), atol=1e-5)


@jit
def curve_of(which: int, x: Float32Array) -> None:
    for i in range(len(x)):
        x[i] = (
            exp_nonpositive(x[i])
            if which == 0
            else gelu_exact(x[i])
            if which == 1
            else gelu_tanh(x[i])
        )


def test_curves_are_those_of_single_precision() -> None:
    x = np.linspace(-12, 12, 4001).astype(np.float32)
    expected = [np.exp(np.minimum(x, 0)), gelu(x, GELU_EXACT), gelu(x, GELU_TANH)]
    for which, right in enumerate(expected):
        found = np.minimum(x, 0) if which == 0 else x.copy()
        curve_of(which, found)
        np.testing.assert_allclose(found, right, atol=5e-7, rtol=2e-6)


@jit_finite
def exponentials_of(row: Float32Array, count: int) -> float:
    return float(exp_shifted(row, count))


@pytest.mark.parametrize("count", [1, 5, SIMD_WIDTH, SIMD_WIDTH + 1, 40])
def test_softmax_is_that_of_numpy(count: int) -> None:
    row = 30 * random(count, 40)
    expected = np.exp(row[:count] - row[:count].max())
    total = exponentials_of(found := row.copy(), count)
    np.testing.assert_allclose(found[:count] / total, expected / expected.sum(), atol=1e-6)
    assert found[count:].tolist() == row[count:].tolist()


@jit_finite
def maxima_of(row: Float32Array, count: int) -> tuple[float, float]:
    return row_max(row, count), row_abs_max(row, count)


@pytest.mark.parametrize(
    "count", [1, 2, SIMD_WIDTH - 1, SIMD_WIDTH, SIMD_WIDTH + 1, 3 * SIMD_WIDTH, 3 * SIMD_WIDTH + 5]
)
def test_maxima_are_those_of_numpy_wherever_they_stand(count: int) -> None:
    for place in range(count):
        for value in (5.0, -5.0):
            row = random(count, 4 * SIMD_WIDTH + 1)[1:] - 1
            row[place], row[count:] = value, 99
            found = maxima_of(row, count)
            assert found == (row[:count].max(), np.abs(row[:count]).max())
