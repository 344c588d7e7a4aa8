"""The kernels of ELMo beside NumPy, and what they refuse."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malmoi.arrays import Float32Array
from malmoi.encode.checkpoint.elmo_weights import DenseWeights, LstmWeights
from malmoi.encode.elmo.compiled_network import affine, pack_dense, pack_lstm, zeros
from malmoi.kernels.core.jit import jit
from malmoi.kernels.elmo.char_cnn import (
    RELU,
    TANH,
    ConvolutionBuffers,
    convolve_words,
    mix_highway,
    multiply_words,
)
from malmoi.kernels.elmo.lstm import GATES, LstmBuffers, run_lstm, sigmoid, tanh
from malmoi.kernels.transformer.gemm import IS_SUPPORTED, PANEL

needs_vectors = pytest.mark.skipif(not IS_SUPPORTED, reason="this processor has no AVX2 with FMA")


def some(seed: int, *shape: int) -> Float32Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@jit
def curve(which: int, x: Float32Array) -> None:
    for i in range(len(x)):
        x[i] = sigmoid(x[i]) if which == 0 else tanh(x[i])


def test_curves_are_those_of_single_precision() -> None:
    x = np.concatenate([np.linspace(-30, 30, 4001), [0, -1e-6, 1e-6, 1e9, -1e9]]).astype("f4")
    exact = x.astype(np.float64)
    for which, expected in ((0, 0.5 + 0.5 * np.tanh(exact / 2)), (1, np.tanh(exact))):
        ours = x.copy()
        curve(which, ours)
        np.testing.assert_allclose(ours, expected, atol=2e-7)


def lstm_arguments(
    sizes: list[int], cells: int, projection: int, rows: int = 7
) -> tuple[list[Any], LstmWeights]:
    third = np.float32(1 / 3)
    matrix, bias = third * some(1, 2 * projection, 4 * cells), some(2, 4 * cells)
    weights = LstmWeights(DenseWeights(matrix, bias), third * some(3, cells, projection))
    active = np.array([sum(size > t for size in sizes) for t in range(max(sizes))], np.int64)
    packed, texts = pack_lstm(weights), len(sizes)
    width = len(packed.projection) * PANEL
    buffers = LstmBuffers(
        output=zeros(texts, width),
        cells=zeros(texts, packed.projection.shape[1]),
        inputs=zeros(max(rows, texts), len(packed.inputs) * PANEL),
        gates=np.zeros((GATES, texts, PANEL), np.float32),
        hidden=zeros(texts, packed.projection.shape[1]),
        zeros=np.zeros(PANEL, np.float32),
    )
    buffers.output[:, :projection] = some(4, texts, projection)
    buffers.cells[:, :cells] = some(5, texts, cells)
    tokens = some(6, int(active.sum()), projection)
    clips = (np.float32(0.9), np.float32(0.7))
    return [tokens, active, packed, clips, buffers, np.zeros_like(tokens)], weights


def naive_lstm(
    rows: Float32Array, active: Any, weights: LstmWeights, h: Float32Array, c: Float32Array
) -> Float32Array:
    """Token by token; changes the states h and c."""
    out, at = [], 0
    for count in active:
        for text in range(count):
            i, j, f, o = np.split(
                np.concatenate([rows[at], h[text]]) @ weights.gates.matrix + weights.gates.bias, 4
            )
            new = np.tanh(j) / (1 + np.exp(-i)) + c[text] / (1 + np.exp(-f))
            c[text] = np.clip(new, -0.9, 0.9)
            h[text] = np.clip((np.tanh(c[text]) / (1 + np.exp(-o))) @ weights.projection, -0.7, 0.7)
            out.append(h[text].copy())
            at += 1
    return np.array(out)


@needs_vectors
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=12),
    st.sampled_from([1, 5, PANEL, PANEL + 3]),
    st.sampled_from([1, 4, PANEL, 2 * PANEL + 1]),
)
def test_an_lstm_is_its_equations(sizes: list[int], cells: int, projection: int) -> None:
    sizes.sort(reverse=True)
    arguments, weights = lstm_arguments(sizes, cells, projection)
    rows, active, _, _, buffers, out = arguments
    h, c = buffers.output[:, :projection].copy(), buffers.cells[:, :cells].copy()
    expected = naive_lstm(rows, active, weights, h, c)
    run_lstm(*arguments)
    np.testing.assert_allclose(out, expected, atol=1e-5)
    np.testing.assert_allclose(buffers.output[:, :projection], h, atol=1e-5)
    np.testing.assert_allclose(buffers.cells[:, :cells], c, atol=1e-5)
    assert not buffers.cells[:, cells:].any()


@needs_vectors
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=20),
    st.sampled_from([1, 3, 7]),
    st.sampled_from([1, 4, PANEL, 2 * PANEL + 5]),
    st.sampled_from([RELU, TANH]),
)
def test_a_convolution_is_the_maximum_of_its_windows(
    positions: list[int], width: int, filters: int, activation: int
) -> None:
    table, dim = some(1, 12, 3), 3
    ids = np.random.default_rng(2).integers(0, 12, (len(positions), 9 + width - 1))
    dense = DenseWeights(some(3, width * dim, filters), some(4, filters))
    buffers = ConvolutionBuffers(zeros(11, width * dim), zeros(11, PANEL), np.zeros(PANEL, "f4"))
    out = np.zeros((len(ids), filters), np.float32)
    windows = np.array(positions, np.int64)
    convolve_words(ids, windows, table, pack_dense(dense), activation, buffers, out)
    for word, count, ours in zip(ids, positions, out, strict=True):
        rows = np.stack([table[word[p : p + width]].reshape(-1) for p in range(count)])
        best = (rows @ dense.matrix).max(axis=0) + dense.bias
        expected = np.tanh(best) if activation == TANH else np.maximum(best, 0)
        np.testing.assert_allclose(ours, expected, atol=1e-5)


@needs_vectors
@pytest.mark.parametrize("columns", [1, PANEL, PANEL + 1])
def test_a_highway_carries_what_its_gate_lets_through(columns: int) -> None:
    rows, gate, new = some(1, 5, columns), some(2, 5, columns), some(3, 5, columns)
    share = 1 / (1 + np.exp(-gate))
    expected = share * np.maximum(new, 0) + (1 - share) * rows
    mix_highway(gate, new, rows)
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    dense = DenseWeights(some(4, columns, 7), some(5, 7))
    np.testing.assert_allclose(
        affine(rows, pack_dense(dense))[:, :7], rows @ dense.matrix + dense.bias, atol=1e-5
    )


def changed(arguments: list[Any], place: int, change: Callable[[Any], Any]) -> list[Any]:
    return [*arguments[:place], change(arguments[place]), *arguments[place + 1 :]]


@needs_vectors
@pytest.mark.parametrize(
    ("place", "change", "sentence"),
    [
        (0, lambda rows: rows[:, 1:].copy(), "rows has the shape 4, not 5"),
        (0, lambda rows: rows[1:].copy(), "out has the shape"),
        (1, lambda active: active[1:].copy(), "6 tokens are not 9 rows"),
        (1, lambda active: np.append(active, 0), "a step without a text"),
        (0, lambda rows: rows.astype(np.float64), "is not float32"),
        (1, lambda active: active[::-1].copy(), "rises from step to step"),
        (1, lambda active: active + 9, "more than fit the buffers"),
        (4, lambda b: b._replace(cells=b.cells[:, 1:]), "cells has the shape"),
        (4, lambda b: b._replace(inputs=b.inputs[:1]), "more than fit the buffers"),
        (5, lambda out: out[:, 1:].copy(), "out has the shape"),
    ],
)  # fmt: skip
def test_an_lstm_refuses_what_it_would_overrun(
    place: int, change: Callable[[Any], Any], sentence: str
) -> None:
    arguments, _ = lstm_arguments([4, 3, 2], 6, 5)
    with pytest.raises(ValueError, match=sentence):
        run_lstm(*changed(arguments, place, change))


@needs_vectors
@pytest.mark.parametrize(
    ("place", "change", "sentence"),
    [
        (0, lambda ids: ids + 9, "ids has values"),
        (0, lambda ids: ids[:, :3].copy(), "windows reach beyond the characters"),
        (1, lambda positions: positions * 9, "more than 11 rows"),
        (1, lambda positions: positions * 0, "a word has no window"),
        (3, lambda dense: pack_dense(DenseWeights(some(1, 9, 4), some(2, 4))), "windows has the"),
        (6, lambda out: np.zeros((2, 99), np.float32), "out does not fit the filters"),
        (6, lambda out: out[:1], "are not 2 words"),
    ],
)  # fmt: skip
def test_a_convolution_refuses_what_it_would_overrun(
    place: int, change: Callable[[Any], Any], sentence: str
) -> None:
    buffers = ConvolutionBuffers(zeros(11, 6), zeros(11, PANEL), np.zeros(PANEL, "f4"))
    dense = pack_dense(DenseWeights(some(1, 6, 4), some(2, 4)))
    arguments: list[Any] = [
        np.array([[0, 1, 2, 3]] * 2), np.array([3, 2]), some(3, 5, 3), dense, RELU, buffers,
        np.zeros((2, 4), np.float32),
    ]  # fmt: skip
    convolve_words(*arguments)
    with pytest.raises(ValueError, match=sentence):
        convolve_words(*changed(arguments, place, change))


@needs_vectors
def test_products_and_highways_refuse_what_they_would_overrun() -> None:
    dense = pack_dense(DenseWeights(some(1, 6, 4), some(2, 4)))
    with pytest.raises(ValueError, match="multiply_words"):
        multiply_words(some(3, 2, 5), *dense, np.zeros((2, 1, PANEL), np.float32))
    with pytest.raises(ValueError, match="carry has fewer columns"):
        mix_highway(some(1, 2, 3), some(2, 2, 3), some(3, 2, 4))
