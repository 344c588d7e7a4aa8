"""The sampled softmax: with all words as candidates it is the full one."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from malmoi.tune.elmo.network.sampled_softmax import CandidateSampler, softmax_loss

ROWS, WORDS, DIM = 1200, 40, 8


def inputs() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    hidden, weight, bias = (
        torch.randn(*shape, requires_grad=True) for shape in ((ROWS, DIM), (WORDS, DIM), (WORDS,))
    )
    return hidden, weight, bias, torch.randint(0, WORDS, (ROWS,))


def test_loss_and_gradients_are_those_of_cross_entropy() -> None:
    *weights, targets = inputs()
    hidden, weight, bias = weights
    loss = softmax_loss(hidden, weight, bias, targets)
    gradients = torch.autograd.grad(3 * loss, weights)
    expected = functional.cross_entropy(hidden @ weight.T + bias, targets)
    torch.testing.assert_close(loss, expected)
    for ours, theirs in zip(gradients, torch.autograd.grad(3 * expected, weights), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-7, rtol=1e-4)


def test_bfloat16_is_close() -> None:
    hidden, weight, bias, targets = inputs()
    losses = [
        softmax_loss(hidden, weight, bias, targets, in_bfloat16=rounds) for rounds in (False, True)
    ]
    first, second = (torch.autograd.grad(loss, [hidden, weight, bias]) for loss in losses)
    assert losses[1].item() == pytest.approx(losses[0].item(), rel=0.01)
    for ours, theirs in zip(first, second, strict=True):
        assert float((ours - theirs).norm() / ours.norm()) < 0.02


def test_all_words_sampled_need_no_correction() -> None:
    counts = np.full(20, 1000)
    sampler = CandidateSampler(counts, 5000)
    candidates = sampler.sample(np.arange(20), np.random.default_rng(0))
    np.testing.assert_array_equal(candidates.rows, np.arange(20))
    np.testing.assert_allclose(candidates.corrections, 0, atol=1e-6)


def test_corrections_are_the_probabilities_of_being_a_candidate() -> None:
    counts = np.array([1000, 300, 100, 30, 10, 3, 1])
    sampler, random = CandidateSampler(counts, 3), np.random.default_rng(0)
    shares = (counts + 1) / (counts + 1).sum()
    seen, rounds, corrections = np.zeros(len(counts)), 20_000, np.zeros(len(counts))
    for _ in range(rounds):
        targets = random.choice(len(counts), 4, p=shares)
        candidates = sampler.sample(targets, random)
        seen[candidates.rows] += 1
        corrections[candidates.rows] = candidates.corrections
    np.testing.assert_allclose(np.exp(-corrections), seen / rounds, rtol=0.15)


def test_targets_are_always_candidates() -> None:
    sampler = CandidateSampler(np.arange(50), 2)
    targets = np.array([[3, 3, 49], [0, 7, 7]])
    rows = sampler.sample(targets, np.random.default_rng(1)).rows
    assert {0, 3, 7, 49} <= {*rows}
    assert (np.diff(rows) > 0).all()


def test_it_learns_the_probabilities_of_words() -> None:
    """Logits trained among candidates alone become those of the full softmax."""
    random = np.random.default_rng(0)
    shares = np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.03, 0.02])
    sampler = CandidateSampler((shares * 10_000).astype(np.int64), 2)
    hidden, weight = torch.ones(6, 1), torch.zeros(len(shares), 1)
    bias = torch.zeros(len(shares), requires_grad=True)
    mean = torch.zeros(len(shares))
    steps = 3000
    for step in range(steps):
        targets = random.choice(len(shares), 6, p=shares)
        rows, corrections = sampler.sample(targets, random)
        positions = torch.from_numpy(np.searchsorted(rows, targets))
        chosen = bias[torch.from_numpy(rows)] + torch.from_numpy(corrections)
        loss = softmax_loss(hidden, weight[: len(rows)], chosen, positions)
        (gradient,) = torch.autograd.grad(loss, bias)
        bias.data -= 0.3 * (1 - step / steps) * gradient
        mean += bias.data * (step >= steps // 2) / (steps // 2)
    np.testing.assert_allclose(torch.softmax(mean, 0), shares, rtol=0.15)
