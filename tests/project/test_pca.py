"""Principal components are scikit-learn's, signs and all."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from malmoi.project.reduce import pca
from malmoi.project.reduce.pca import principal_components


@pytest.mark.parametrize("shape", [(500, 20), (10, 30), (3, 3), (40, 3)])
def test_components_are_those_of_scikit_learn(shape: tuple[int, int]) -> None:
    chance = np.random.default_rng(0)
    spread = np.linspace(3, 0.1, shape[1])
    matrix = (chance.normal(size=shape) * spread + 5).astype(np.float32)
    expected = PCA(min(3, min(shape)), svd_solver="full").fit_transform(matrix.astype(np.float64))
    np.testing.assert_allclose(principal_components(matrix, 3), expected, atol=1e-5)


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.random.default_rng(1).normal(size=(100, 8)).astype(np.float32)
    whole = principal_components(matrix, 2)
    monkeypatch.setattr(pca, "BLOCK_ROWS", 7)
    np.testing.assert_allclose(principal_components(matrix, 2), whole, atol=1e-6)


def test_one_dimension_is_a_line() -> None:
    places = principal_components(np.array([[1], [2], [4]], np.float32), 3)
    np.testing.assert_allclose(places[:, 0], [-4 / 3, -1 / 3, 5 / 3], rtol=1e-6)
    assert not places[:, 1:].any()
