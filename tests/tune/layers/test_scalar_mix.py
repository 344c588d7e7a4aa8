"""The scalar mix beside scikit-learn's logistic regression and torch's gradients."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from malmoi.arrays import Int64Array
from malmoi.tune.layers import scalar_mix
from malmoi.tune.layers.scalar_mix import LayerRows, fit_mix, learn_mix

LAYERS, TEXTS, DIM = 3, 200, 6


def some_rows(classes: int, informative: int = 1, distance: float = 2) -> LayerRows:
    """Random layers, one of which tells the class."""
    random = np.random.default_rng(0)
    labels = np.arange(TEXTS) % classes
    layers = random.normal(size=(LAYERS, TEXTS, DIM)).astype(np.float32)
    layers[informative, np.arange(TEXTS), labels] += distance
    return LayerRows(layers, labels)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_one_layer_is_scikit_learns_logistic_regression(classes: int, scale: float) -> None:
    rows = some_rows(classes).only(1)
    probe = fit_mix(rows, scale)
    peer = LogisticRegression(C=1.0, tol=1e-8, max_iter=5000).fit(
        scale * rows.layers[0], rows.classes
    )
    assert probe.head.weights == pytest.approx(peer.coef_.T, abs=1e-2)
    assert probe.head.intercepts == pytest.approx(peer.intercept_, abs=1e-2)
    assert np.array_equal(probe.predict(rows.layers), peer.predict(scale * rows.layers[0]))


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_and_head_are_a_minimum_by_torchs_gradients(classes: int) -> None:
    rows, scale = some_rows(classes), 1.5
    probe = fit_mix(rows, scale)
    weights, head, intercepts = (
        torch.tensor(value, requires_grad=True)
        for value in (probe.weights, probe.head.weights, probe.head.intercepts)
    )
    layers, labels = torch.tensor(rows.layers).double(), torch.tensor(rows.classes)
    mixed = scale * torch.einsum("j,jnd->nd", torch.softmax(weights, 0), layers)
    logits = mixed @ head + intercepts
    if classes == 2:
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            logits[:, 0], labels.double(), reduction="sum"
        )
    else:
        loss = torch.nn.functional.cross_entropy(logits, labels, reduction="sum")
    loss = loss + 0.5 * (head**2).sum() + 0.5 * scalar_mix.WEIGHT_PENALTY * (weights**2).sum()
    gradients = torch.autograd.grad(loss, [weights, head, intercepts])
    assert max(float(each.abs().max()) for each in gradients) < 2e-4 * TEXTS


@pytest.mark.parametrize("informative", range(LAYERS))
def test_the_layer_that_tells_the_class_gets_the_weight(informative: int) -> None:
    rows = some_rows(2, informative)
    probe = learn_mix(rows, held_out_rows())
    assert probe.weights.argmax() == informative
    assert (probe.predict(rows.layers) == rows.classes).mean() > 0.9


def test_gamma_is_small_where_nothing_can_be_learned() -> None:
    random = np.random.default_rng(3)
    noise = LayerRows(
        random.normal(size=(2, TEXTS, 60)).astype(np.float32), random.integers(0, 2, TEXTS)
    )
    useful = some_rows(2, distance=20)

    def gamma(rows: LayerRows) -> float:
        """γ, if all layers had vectors of length 1."""
        probe, layers = learn_mix(rows, held_out_rows()), rows.layers
        lengths = np.linalg.norm(layers - layers.mean(axis=1, keepdims=True), axis=2).mean(axis=1)
        return probe.scale * float(np.exp(np.log(lengths).mean()))

    assert gamma(noise) < 2 * scalar_mix.SCALES[0] < gamma(useful)


def test_the_length_of_a_layer_does_not_count() -> None:
    rows = some_rows(3)
    longer = rows._replace(layers=rows.layers * np.array([1, 50, 0.1], np.float32)[:, None, None])
    probe, other = (learn_mix(each, held_out_rows()) for each in (rows, longer))
    assert np.array_equal(probe.predict(rows.layers), other.predict(longer.layers))
    mixed = probe.mixed(rows.layers)
    assert other.mixed(longer.layers) == pytest.approx(mixed, rel=1e-2, abs=1e-2)


def test_layers_of_zeros_can_be_fitted() -> None:
    rows = LayerRows(np.zeros((2, 10, 3), np.float32), np.arange(10) % 2)
    assert np.isfinite(learn_mix(rows, np.array([0, 1])).weights).all()


def held_out_rows() -> Int64Array:
    return np.arange(0, TEXTS, 5)
