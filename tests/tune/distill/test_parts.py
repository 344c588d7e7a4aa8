"""The parts of a distillation: losses, ridge regression, row-wise Adam, spread of vectors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers.sentence_transformer.losses import MSELoss
from sklearn.linear_model import Ridge
from torch import nn

from malmoi.tune.distill.losses import make_loss, similarity_error
from malmoi.tune.distill.ridge import PENALTIES, choose_ridge, fit_ridge, r_squared
from malmoi.tune.distill.spread import vector_spread
from malmoi.tune.network.row_adam import RowAdam


def random_rows(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


class Passed(nn.Module):
    """A model whose vectors of texts are given."""

    def forward(self, features: Any) -> Any:
        return {"sentence_embedding": features}


def test_the_loss_of_the_paper_is_that_of_sentence_transformers() -> None:
    vectors, targets = (torch.from_numpy(random_rows(8, 5, seed=i)) for i in (0, 1))
    model: Any = Passed()
    theirs = MSELoss(model)([vectors], targets)
    assert make_loss("mse", 0.0)(vectors, targets).item() == pytest.approx(theirs.item(), abs=1e-6)


def test_the_loss_of_a_perfect_student_is_zero_and_of_cosines_ignores_length() -> None:
    targets = torch.from_numpy(random_rows(6, 4))
    for scale in (1.0, 3.0):
        assert make_loss("cosine", 10.0)(scale * targets, targets).item() == pytest.approx(
            0, abs=1e-6
        )
    assert make_loss("mse", 10.0)(targets, targets).item() == pytest.approx(0, abs=1e-6)


def test_the_similarity_error_is_that_of_all_pairs() -> None:
    vectors, targets = (random_rows(5, 4, seed=i) for i in (0, 1))
    own, theirs = (
        rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (vectors, targets)
    )
    expected = np.mean(
        [(own[i] @ own[j] - theirs[i] @ theirs[j]) ** 2 for i in range(5) for j in range(5)]
    )
    found = similarity_error(torch.from_numpy(vectors), torch.from_numpy(targets)).item()
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("penalty", PENALTIES[::2])
def test_ridge_is_that_of_scikit_learn(penalty: float) -> None:
    x, y = random_rows(40, 6), random_rows(40, 3, seed=1) + 2
    theirs = Ridge(alpha=penalty).fit(x.astype(np.float64), y)
    new = random_rows(9, 6, seed=2)
    np.testing.assert_allclose(fit_ridge(x, y, penalty)(new), theirs.predict(new), atol=1e-5)


def test_the_penalty_fits_the_noise() -> None:
    x, weights = random_rows(200, 30), random_rows(30, 4, seed=1)
    clean = choose_ridge(x, x @ weights)
    noisy = choose_ridge(x, x @ weights + 40 * random_rows(200, 4, seed=2))
    assert clean.r2 > 0.999
    assert clean.penalty < noisy.penalty
    assert noisy.r2 < 0.5


def test_r_squared_of_the_mean_is_zero_and_of_the_targets_one() -> None:
    targets = random_rows(50, 8)
    mean = np.tile(targets.mean(axis=0), (50, 1))
    assert r_squared(targets, targets) == 1
    assert r_squared(mean, targets) == pytest.approx(0, abs=1e-6)
    assert r_squared(-targets, targets) < -2


def test_rows_that_occur_always_are_updated_as_by_adam() -> None:
    start = random_rows(6, 4)
    ours, theirs = (nn.Parameter(torch.from_numpy(start.copy())) for _ in range(2))
    rows, adam = RowAdam(ours), torch.optim.Adam([theirs], lr=0.01)
    ids = torch.tensor([1, 3, 3])
    for step in range(5):
        scale = torch.from_numpy(random_rows(3, 4, seed=step))
        (nn.functional.embedding(ids, ours, sparse=True) * scale).sum().backward()  # type: ignore[no-untyped-call]
        (nn.functional.embedding(ids, theirs) * scale).sum().backward()  # type: ignore[no-untyped-call]
        rows.update(0.01)
        adam.step()
        adam.zero_grad()
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-5)
    np.testing.assert_array_equal(ours.detach().numpy()[[0, 2, 4, 5]], start[[0, 2, 4, 5]])


def test_a_row_that_first_occurs_late_moves_by_the_learning_rate() -> None:
    table = nn.Parameter(torch.zeros(2, 3))
    rows = RowAdam(table)
    for _ in range(50):
        nn.functional.embedding(torch.tensor([0]), table, sparse=True).sum().backward()  # type: ignore[no-untyped-call]
        rows.update(0.01)
    nn.functional.embedding(torch.tensor([1]), table, sparse=True).sum().backward()  # type: ignore[no-untyped-call]
    rows.update(0.01)
    np.testing.assert_allclose(table.detach().numpy()[1], -0.01, rtol=1e-4)


def test_rows_can_be_left_alone() -> None:
    table = nn.Parameter(torch.zeros(3, 2))
    rows = RowAdam(table, np.array([True, False, True]))
    nn.functional.embedding(torch.tensor([0, 1]), table, sparse=True).sum().backward()  # type: ignore[no-untyped-call]
    rows.update(0.1)
    assert table.detach().numpy().any(axis=1).tolist() == [True, False, False]


def test_the_effective_rank_of_known_vectors() -> None:
    """n orthogonal vectors have rank n; with one energy of 3/4 and one of 1/4 it is e^H."""
    assert vector_spread(np.eye(7, dtype=np.float32)).effective_rank == pytest.approx(7)
    rows = np.array([[1, 0]] * 3 + [[0, 1]], np.float32)
    expected = np.exp(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25)))
    assert vector_spread(rows).effective_rank == pytest.approx(expected)
    same = vector_spread(np.ones((5, 3), np.float32))
    assert same.mean_cosine == pytest.approx(1)
    assert same.centred_rank == 1
    assert same.effective_rank == pytest.approx(1)


@given(st.integers(2, 30), st.integers(1, 10), st.integers(0, 99))
def test_the_spread_of_vectors_is_within_its_bounds(count: int, dim: int, seed: int) -> None:
    rows = random_rows(count, dim, seed=seed)
    spread = vector_spread(rows)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = (units @ units.T)[~np.eye(count, dtype=bool)]
    assert spread.mean_cosine == pytest.approx(cosines.mean(), abs=1e-4)
    assert 1 - 1e-6 <= spread.effective_rank <= min(count, dim) + 1e-6
    assert spread.centred_rank <= min(count - 1, dim) + 1e-6


def test_a_checkpoint_of_rows_is_restored(tmp_path: Path) -> None:
    tables = [nn.Parameter(torch.zeros(3, 2)) for _ in range(2)]
    first, second = (RowAdam(table) for table in tables)
    for _ in range(3):
        nn.functional.embedding(torch.tensor([0, 1]), tables[0], sparse=True).sum().backward()  # type: ignore[no-untyped-call]
        first.update(0.1)
    second.restore(first.tensors())
    for name, array in second.tensors().items():
        np.testing.assert_array_equal(array, first.tensors()[name])
