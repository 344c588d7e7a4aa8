"""Trains the feed-forward language model with torch: the network and one optimizer step."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from malmoi.arrays import Int64Array
from malmoi.files.tensors import Tensors
from malmoi.models.nnlm_model import NnlmLayers

INITIAL_DEVIATION = 0.1  # standard deviation of the lookup table at the start
ADAM_BETAS = (0.9, 0.99)
ADAM_STATE = ("step", "exp_avg", "exp_avg_sq")  # per weight


class NnlmNetwork(nn.Module):
    """The layers of `NnlmLayers`, with dropout on the inputs and the hidden layer."""

    def __init__(
        self,
        counts: Int64Array,
        shape: tuple[int, int, int],
        *,
        direct: bool,
        tied: bool,
        drop: float,
    ) -> None:
        """Build the layers; `counts` has one entry per word, `shape` is (context, dim, hidden)."""
        super().__init__()
        context, dim, hidden = shape
        features = hidden + (context * dim if direct else 0)
        frequencies = torch.from_numpy(counts[:-1] + 1.0)
        self.direct, self.tied, self.drop = direct, tied, drop
        self.lookup = nn.Parameter(INITIAL_DEVIATION * torch.randn(len(counts), dim))
        self.hidden = nn.Linear(context * dim, hidden)
        self.output = nn.Linear(features, dim if tied else len(counts) - 1, bias=False)
        self.output_bias = nn.Parameter((frequencies / frequencies.sum()).log().float())

    def features(self, contexts: Tensor) -> Tensor:
        """Map contexts [windows, context] to [windows, dim] if tied, else [windows, features]."""
        inputs = functional.embedding(contexts, self.lookup).flatten(1)
        inputs = functional.dropout(inputs, self.drop, self.training)
        hidden = functional.dropout(torch.tanh(self.hidden(inputs)), self.drop, self.training)
        features = torch.cat([hidden, inputs], 1) if self.direct else hidden
        return self.output(features) if self.tied else features

    @property
    def rows(self) -> Tensor:
        """The output embeddings: one row per word that the model can predict."""
        return self.lookup[:-1] if self.tied else self.output.weight

    def full_loss(self, contexts: Tensor, targets: Tensor) -> Tensor:
        """Return the mean cross-entropy of the targets, with the full softmax."""
        scores = functional.linear(self.features(contexts), self.rows, self.output_bias)
        return functional.cross_entropy(scores, targets)

    def sampled_loss(
        self, contexts: Tensor, targets: Tensor, sampled: Tensor, weights: Tensor
    ) -> Tensor:
        """Return the mean cross-entropy, with the softmax sum estimated from sampled words.

        `weights` are the log importance weights of the sampled words: the logarithms of
        1 / (samples · probability of the word) (Bengio and Senécal 2003).
        """
        features = self.features(contexts)
        rows = functional.embedding(torch.cat([targets, sampled]), self.rows)
        own = (features * rows[: len(targets)]).sum(1) + self.output_bias[targets]
        others = features @ rows[len(targets) :].T + (self.output_bias[sampled] + weights)
        others = others.masked_fill(targets[:, None] == sampled, -math.inf)
        total = torch.logsumexp(torch.cat([own[:, None], others], 1), 1)
        return (total - own).mean()

    def layers(self) -> NnlmLayers:
        """Return a copy of the current weights."""
        weights = (
            self.lookup,
            self.hidden.weight,
            self.hidden.bias,
            self.output.weight,
            self.output_bias,
        )
        return NnlmLayers(*(weight.detach().numpy().copy() for weight in weights), tied=self.tied)


class NnlmTrainer:
    """A network and its Adam optimizer; 0 `negative_samples` means the full softmax."""

    def __init__(
        self, network: NnlmNetwork, counts: Int64Array, negative_samples: int, seed: int
    ) -> None:
        self.network = network
        self.optimizer = torch.optim.Adam(network.parameters(), betas=ADAM_BETAS, fused=True)
        frequencies = (counts[:-1] + 1.0) / (counts[:-1] + 1.0).sum()
        self.negative_samples, self.cumulative = negative_samples, np.cumsum(frequencies)
        self.weights = -np.log(frequencies * max(1, negative_samples)).astype(np.float32)
        self.random = np.random.default_rng(seed)

    def step(self, rows: npt.NDArray[np.integer], learning_rate: float) -> float:
        """Train on windows [batch, context + 1]; returns the loss before the step."""
        batch = torch.from_numpy(rows.astype(np.int64))
        contexts, targets = batch[:, :-1], batch[:, -1]
        if self.negative_samples:
            sampled = np.searchsorted(
                self.cumulative, self.random.random(self.negative_samples), side="right"
            )
            sampled = np.minimum(
                sampled, len(self.cumulative) - 1
            )  # the last sum may be just below 1
            weights = torch.from_numpy(self.weights[sampled])
            loss = self.network.sampled_loss(contexts, targets, torch.from_numpy(sampled), weights)
        else:
            loss = self.network.full_loss(contexts, targets)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss.item()

    def tensors(self) -> Tensors:
        """Return weights, Adam's state and torch's generator for a checkpoint; not `random`."""
        tensors = {"generator": torch.random.get_rng_state().numpy()}
        for name, weight in self.network.named_parameters():
            tensors[name] = weight.detach().numpy()
            for part, value in self.optimizer.state[weight].items():
                tensors[f"{name} {part}"] = value.numpy()
        return tensors

    def restore(self, tensors: Tensors) -> None:
        """Restore the state that `tensors` returned."""
        torch.random.set_rng_state(torch.from_numpy(tensors["generator"]))
        for name, weight in self.network.named_parameters():
            state = {part: torch.from_numpy(tensors[f"{name} {part}"]) for part in ADAM_STATE}
            if any(state[part].shape != weight.shape for part in ADAM_STATE[1:]):
                raise ValueError(f"Adam's state of {name} does not fit its shape")
            if tensors[name].shape != weight.shape:
                raise ValueError(
                    f"{name} has the shape {tensors[name].shape}, not {tuple(weight.shape)}"
                )
            weight.data.copy_(torch.from_numpy(tensors[name]))
            self.optimizer.state[weight] = state


@contextmanager
def repeatable(seed: int, threads: int) -> Iterator[None]:
    """Seed torch and set its number of threads; restores both on exit."""
    before = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)
