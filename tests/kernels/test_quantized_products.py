"""Products of int16 and int8 beside NumPy's of the same numbers, and their worst cases."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malmoi.arrays import Float32Array
from malmoi.encode.runtime.packed_weights import pack_int8, pack_int16
from malmoi.kernels.core.barrier import ThreadContext
from malmoi.kernels.transformer import gemm_int8 as int8_kernels
from malmoi.kernels.transformer import gemm_int16 as int16_kernels
from malmoi.kernels.transformer.dense import (
    NO_ACTIVATION,
    QuantizedDenseLayer,
    dense_quantized,
)
from malmoi.kernels.transformer.gemm import PANEL
from malmoi.kernels.transformer.gemm_int8 import quantize_rows_int8
from malmoi.kernels.transformer.gemm_int16 import MAX_INT16, MAX_NORM, quantize_rows_int16
from malmoi.kernels.transformer.gemm_quantized import QuantizedRows, new_quantized_rows

COUNTER = np.zeros(1, np.int64)
needs_int16 = pytest.mark.skipif(
    not int16_kernels.IS_SUPPORTED, reason="this processor has no AVX2"
)
needs_int8 = pytest.mark.skipif(not int8_kernels.IS_SUPPORTED, reason="this processor has no VNNI")
sizes = given(
    rows=st.integers(1, 30), depth=st.integers(1, 70), columns=st.integers(1, 2 * PANEL + 5)
)


def random(seed: int, *shape: int) -> Float32Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def in_int16(rows: Float32Array) -> QuantizedRows:
    count, depth = rows.shape
    quantized = new_quantized_rows(count, depth, np.int16)
    quantize_rows_int16(rows, depth, quantized)
    return quantized


def matrix_of(dense: QuantizedDenseLayer, group: int) -> npt.NDArray[np.int64]:
    """The first layer's quantized numbers, [depth, columns]."""
    panels = dense.panels[0]
    count, depth, _ = panels.shape
    apart = panels.reshape(count, depth // group, PANEL, group)
    whole: npt.NDArray[np.int64] = apart.transpose(1, 3, 0, 2).reshape(depth, -1).astype(np.int64)
    return whole


def times(
    rows: Float32Array, dense: QuantizedDenseLayer, parts: int = 1
) -> tuple[Float32Array, QuantizedRows]:
    """The product by the kernel, and the rows as it quantized them."""
    multiply: Any = dense_quantized
    kind = np.int16 if dense.panels.dtype == np.int16 else np.uint8
    quantized = new_quantized_rows(len(rows), dense.panels.shape[2], kind)
    out = np.full((len(rows), dense.panels.shape[1] * PANEL), np.nan, np.float32)
    for part in range(parts):
        multiply(rows, dense, 0, out, quantized, ThreadContext(part, parts, COUNTER), NO_ACTIVATION)
    return out, quantized


def expected(
    sums: npt.NDArray[np.int64], dense: QuantizedDenseLayer, scales: Float32Array
) -> Float32Array:
    """Sums scaled back and biased in single precision, in the order of the kernel."""
    column_scales, biases = (dense.columns[0, :, kind].reshape(-1) for kind in (1, 2))
    floats: Float32Array = sums.astype(np.float32) * scales[:, np.newaxis] * column_scales + biases
    return floats


@needs_int16
@settings(max_examples=40, deadline=None)
@sizes
def test_an_int16_product_is_that_of_the_quantized_numbers(
    rows: int, depth: int, columns: int
) -> None:
    dense = pack_int16([(random(2, depth, columns), np.zeros(columns, np.float32))])
    found, quantized = times(random(1, rows, depth), dense, parts=2)
    sums = quantized.rows.astype(np.int64) @ matrix_of(dense, 2)
    assert np.all(np.abs(sums) < 2**31)
    np.testing.assert_allclose(found, expected(sums, dense, quantized.scales), rtol=3e-7)


@needs_int16
@settings(max_examples=25, deadline=None)
@sizes
def test_an_int16_product_is_near_that_of_the_floats(rows: int, depth: int, columns: int) -> None:
    given_rows, matrix, bias = random(1, rows, depth), random(2, depth, columns), random(3, columns)
    found, _ = times(given_rows, pack_int16([(matrix, bias)]))
    lengths = np.linalg.norm(given_rows, axis=1)[:, None] * np.linalg.norm(matrix, axis=0)
    error = np.abs(found[:, :columns] - (given_rows @ matrix + bias))
    assert np.all(error <= 1e-3 * lengths + 1e-6)


@needs_int16
@pytest.mark.parametrize("depth", [1, 3, 384, 1536, 4096])
@pytest.mark.parametrize("value", [1.0, -1.0, 1e30, 1e-20])
def test_equal_numbers_in_rows_and_columns_do_not_overflow(depth: int, value: float) -> None:
    row = np.full((7, depth), value / depth, np.float32)
    matrix = np.full((depth, PANEL + 3), np.sign(value), np.float32)
    found, quantized = times(row, pack_int16([(matrix, np.zeros(PANEL + 3, np.float32))]))
    norms = np.sqrt(np.sum(quantized.rows.astype(np.float64) ** 2, axis=1))
    assert np.all(norms <= MAX_NORM)
    np.testing.assert_allclose(found[:, : PANEL + 3], abs(value), rtol=3e-3)


@needs_int16
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=64)
)
def test_no_row_of_int16_has_a_norm_or_a_number_past_the_bound(numbers: list[float]) -> None:
    quantized = in_int16(row := np.array([numbers], np.float32))
    whole, scale = quantized.rows.astype(np.float64), quantized.scales.astype(np.float64)
    assert np.abs(whole).max() <= MAX_INT16
    assert np.sqrt((whole**2).sum()) <= MAX_NORM
    assert np.all(np.abs(whole * scale - row) <= 0.51 * scale + 1e-5 * np.abs(row))


@needs_int16
def test_one_number_alone_uses_the_whole_range() -> None:
    row = np.zeros((1, 384), np.float32)
    row[0, 17] = -2e-7
    quantized = in_int16(row)
    assert quantized.rows[0, 17] == -MAX_INT16
    assert np.count_nonzero(quantized.rows) == 1


@needs_int16
@pytest.mark.parametrize("number", [0.0, 1e-45, 1e-38])
def test_zeros_and_denormals_are_quantized_to_almost_nothing(number: float) -> None:
    row = np.full((2, 33), number, np.float32)
    found, quantized = times(row, pack_int16([(random(1, 33, 5), random(2, 5))]))
    assert np.all(np.isfinite(quantized.scales))
    np.testing.assert_allclose(found[:, :5], np.tile(random(2, 5), (2, 1)), atol=1e-30)


@needs_int16
def test_columns_of_zeros_give_the_bias() -> None:
    found, _ = times(random(1, 4, 10), pack_int16([(np.zeros((10, 3), np.float32), random(2, 3))]))
    np.testing.assert_array_equal(found[:, :3], np.tile(random(2, 3), (4, 1)))


@needs_int8
@settings(max_examples=25, deadline=None)
@sizes
def test_an_int8_product_is_that_of_the_quantized_numbers(
    rows: int, depth: int, columns: int
) -> None:
    given_rows, matrix, bias = random(1, rows, depth), random(2, depth, columns), random(3, columns)
    dense = pack_int8([(matrix, bias)])
    found, quantized = times(given_rows, dense, parts=2)
    sums = (quantized.rows.astype(np.int64) - int8_kernels.ZERO_POINT) @ matrix_of(dense, 4)
    right = expected(sums, dense, quantized.scales)
    np.testing.assert_allclose(found, right, rtol=1e-6, atol=1e-6)
    assert not found[:, columns:].any()
    by_hand = np.rint(matrix / (np.abs(matrix).max(axis=0) / 127))
    np.testing.assert_array_equal(matrix_of(dense, 4)[:depth, :columns], by_hand)


@needs_int8
def test_a_row_in_bytes_is_wrong_by_half_a_step_at_most() -> None:
    rows = random(5, 6, 64)
    rows[2] = 0
    quantized = new_quantized_rows(6, 64, np.uint8)
    quantize_rows_int8(rows, 64, quantized)
    back = (quantized.rows.astype(np.float32) - 128) * quantized.scales[:, np.newaxis]
    assert np.all(np.abs(back - rows) <= 0.5001 * quantized.scales[:, np.newaxis])
    assert not back[2].any()
