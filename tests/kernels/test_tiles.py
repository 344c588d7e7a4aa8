"""Tiles, means and rows in vectors, beside the plain ones and NumPy."""

from collections.abc import Callable
from types import ModuleType

import numba
import numpy as np
import pytest

from malmoi.arrays import Float32Array
from malmoi.kernels.word2vec import means, rows, tiles
from malmoi.kernels.word2vec import simd_means as vector_means
from malmoi.kernels.word2vec import simd_rows as vector_rows
from malmoi.kernels.word2vec import simd_tiles as vector_tiles
from malmoi.kernels.word2vec.rows import aligned_rows, padded_width
from malmoi.kernels.word2vec.tiles import LANES, TILE, sigmoid, tile_loss

BOTH = pytest.mark.parametrize("kind", [tiles, vector_tiles], ids=["plain", "vectors"])
WIDTHS = pytest.mark.parametrize("dim", [3, 16, 100, 300])


def numbers(count: int, dim: int, seed: int) -> Float32Array:
    matrix = aligned_rows(count, padded_width(dim))
    matrix[:, :dim] = np.random.default_rng(seed).normal(size=(count, dim)) / dim**0.5
    return matrix


def call(verb: Callable[..., None], *given: object) -> None:
    """Do it, in a kernel if need be: those that are written for LLVM are for kernels alone."""
    is_compiled = hasattr(verb, "py_func")
    (verb if is_compiled else numba.njit(lambda *all: verb(*all)))(*given)


@BOTH
@WIDTHS
@pytest.mark.parametrize("contexts", [[4], [0, 2, 5], [3, 3, 1, 0], list(range(10))])
def test_scores_are_dot_products(kind: ModuleType, dim: int, contexts: list[int]) -> None:
    hidden, outputs = numbers(12, dim, 1), numbers(9, dim, 2)
    targets = np.array([8, 1, 1, 0, 5, 7], np.int32)
    scores = aligned_rows(12, LANES)
    call(kind.score_tile, hidden, np.array(contexts, np.int32), outputs, targets, scores)
    expected = hidden[contexts] @ outputs[targets].T
    np.testing.assert_allclose(scores[: len(contexts), :TILE], expected, atol=1e-5)
    assert not scores[len(contexts) :].any()


@BOTH
def test_steps_are_the_gradient(kind: ModuleType) -> None:
    scores = np.random.default_rng(1).normal(size=(5, LANES)).astype(np.float32) * 6
    goals = np.array([1, 0, 0, 1, 0, 0, 0, 0], np.float32)
    weights = np.array([1, 1, 0, 1, 1, 1, 0, 0], np.float32)
    expected = 0.025 * weights * (goals - 1 / (1 + np.exp(-scores.astype(np.float64))))
    call(kind.step_tile, scores, 5, goals, weights, np.float32(0.025))
    np.testing.assert_allclose(scores, expected, atol=2e-8)


@BOTH
@WIDTHS
@pytest.mark.parametrize("contexts", [[4], [0, 2, 5], [3, 3, 1, 0]])
@pytest.mark.parametrize("targets", [[8, 1, 2, 0, 5, 7], [8, 1, 1, 0, 1, 7]])
def test_moves_are_from_what_rows_were(
    kind: ModuleType, dim: int, contexts: list[int], targets: list[int]
) -> None:
    hidden, outputs = numbers(6, dim, 1), numbers(9, dim, 2)
    steps = np.random.default_rng(3).normal(size=(len(contexts), LANES)).astype(np.float32)
    new_hidden, new_outputs = hidden.astype(np.float64), outputs.astype(np.float64)
    for j, context in enumerate(contexts):
        for i, target in enumerate(targets):
            new_outputs[target] += steps[j, i] * new_hidden[context]
        new_hidden[context] += steps[j, :TILE] @ outputs[targets]
    given = np.array(contexts, np.int32), outputs, np.array(targets, np.int32)
    coming = np.arange(LANES, dtype=np.int32)
    call(kind.move_tile, hidden, *given, coming, steps, aligned_rows(TILE, hidden.shape[1]))
    np.testing.assert_allclose(hidden, new_hidden, atol=1e-5)
    np.testing.assert_allclose(outputs, new_outputs, atol=1e-5)


@pytest.mark.parametrize("kind", [means, vector_means], ids=["plain", "vectors"])
@WIDTHS
@pytest.mark.parametrize("targets", [[8, 1, 2, 0, 5, 7], [8, 1, 1, 0, 1, 7]])
def test_the_mean_of_a_window_is_scored_and_targets_move(
    kind: ModuleType, dim: int, targets: list[int]
) -> None:
    outputs, scores = numbers(9, dim, 2), aligned_rows(2, LANES)
    mean, move = numbers(2, dim, 3)
    others = np.array(targets, np.int32)
    call(kind.score_mean, mean, outputs, others, scores)
    np.testing.assert_allclose(scores[0, :TILE], outputs[targets] @ mean, atol=1e-5)
    assert not scores[1].any()
    steps = np.random.default_rng(3).normal(size=(1, LANES)).astype(np.float32)
    new_outputs = outputs.astype(np.float64)
    new_move = move + steps[0, :TILE] @ outputs[targets]  # it grows, and is not divided
    np.add.at(new_outputs, targets, np.outer(steps[0, :TILE], mean))
    coming = np.arange(LANES, dtype=np.int32)
    call(kind.move_targets, mean, outputs, others, coming, steps, move)
    np.testing.assert_allclose(move, new_move, atol=1e-5)
    np.testing.assert_allclose(outputs, new_outputs, atol=1e-5)


@pytest.mark.parametrize("kind", [rows, vector_rows], ids=["plain", "vectors"])
@WIDTHS
def test_rows_have_a_mean_and_move_together(kind: ModuleType, dim: int) -> None:
    matrix = numbers(9, dim, 4)
    some, out = np.array([2, 7, 4], np.int32), np.ones(matrix.shape[1], np.float32)
    call(kind.mean_of_rows, matrix, some, out)
    np.testing.assert_allclose(out, matrix[some].mean(axis=0), atol=1e-6)
    weights = np.array([1, 5, 2], np.float32)
    call(kind.weighted_mean, matrix, some, weights, out)
    expected = np.average(matrix[some], axis=0, weights=weights)
    np.testing.assert_allclose(out, expected, atol=1e-6)
    expected = matrix.copy()
    expected[some] += out
    call(kind.move_rows, matrix, some, out)
    np.testing.assert_allclose(matrix, expected, atol=1e-6)


def test_the_sigmoid_is_near_enough() -> None:
    scores = np.linspace(-40, 40, 4001, dtype=np.float32)
    found = [sigmoid(score) for score in scores]
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-scores.astype(np.float64))), atol=4e-7)


def test_the_loss_is_the_surprise_at_the_goals() -> None:
    scores = np.random.default_rng(1).normal(size=(4, LANES)).astype(np.float32) * 20
    goals = np.array([1, 0, 0, 1, 0, 0, 0, 0], np.float32)
    weights = np.array([1, 1, 0, 1, 1, 1, 0, 0], np.float32)
    chances = 1 / (1 + np.exp(-scores.astype(np.float64)))
    right = np.where(goals == 1, chances, 1 - chances)
    surprises = -(weights * np.log(np.maximum(right, 1e-300)))[:, :TILE]
    for count in (3, 4):
        expected = surprises[:count].sum()
        assert tile_loss(scores, count, goals, weights) == pytest.approx(expected, rel=1e-4)
