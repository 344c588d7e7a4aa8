"""The feed-forward language model while it learns: the layers in torch, one step at a time.

Knows nothing of text or settings, nor of what is learnt when.
"""

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

SPREAD = 0.1  # of the first numbers in the lookup table
BETAS = (0.9, 0.99)  # how long Adam remembers
ADAM = ("step", "exp_avg", "exp_avg_sq")  # what it remembers of each weight


class NnlmNetwork(nn.Module):
    """What `NnlmLayers` says, with dropout on the inputs and the hidden layer."""

    def __init__(
        self,
        counts: Int64Array,
        shape: tuple[int, int, int],
        *,
        direct: bool,
        tied: bool,
        drop: float,
    ) -> None:
        """`counts` are the words'; `shape` is how many previous words, dim, hidden."""
        super().__init__()
        context, dim, hidden = shape
        features = hidden + (context * dim if direct else 0)
        chances = torch.from_numpy(counts[:-1] + 1.0)
        self.direct, self.tied, self.drop = direct, tied, drop
        self.lookup = nn.Parameter(SPREAD * torch.randn(len(counts), dim))
        self.hidden = nn.Linear(context * dim, hidden)
        self.output = nn.Linear(features, dim if tied else len(counts) - 1, bias=False)
        self.output_bias = nn.Parameter((chances / chances.sum()).log().float())

    def features(self, contexts: Tensor) -> Tensor:
        """[windows, dim] if tied, [windows, features] otherwise, from [windows, context]."""
        inputs = functional.embedding(contexts, self.lookup).flatten(1)
        inputs = functional.dropout(inputs, self.drop, self.training)
        hidden = functional.dropout(torch.tanh(self.hidden(inputs)), self.drop, self.training)
        found = torch.cat([hidden, inputs], 1) if self.direct else hidden
        return self.output(found) if self.tied else found

    @property
    def rows(self) -> Tensor:
        """What the features of a window are multiplied with, for each word to be foretold."""
        return self.lookup[:-1] if self.tied else self.output.weight

    def full_loss(self, contexts: Tensor, targets: Tensor) -> Tensor:
        """Minus the mean log probability of the targets."""
        scores = functional.linear(self.features(contexts), self.rows, self.output_bias)
        return functional.cross_entropy(scores, targets)

    def sampled_loss(
        self, contexts: Tensor, targets: Tensor, drawn: Tensor, weights: Tensor
    ) -> Tensor:
        """The same, the softmax's sum being estimated from the target and words that were drawn.

        A drawn word counts as often as it stands for others: its weight is the logarithm of
        1 / (words drawn · its chance) (importance sampling: Bengio and Senécal 2003).
        """
        features = self.features(contexts)
        rows = functional.embedding(torch.cat([targets, drawn]), self.rows)
        own = (features * rows[: len(targets)]).sum(1) + self.output_bias[targets]
        others = features @ rows[len(targets) :].T + (self.output_bias[drawn] + weights)
        others = others.masked_fill(targets[:, None] == drawn, -math.inf)
        total = torch.logsumexp(torch.cat([own[:, None], others], 1), 1)
        return (total - own).mean()

    def layers(self) -> NnlmLayers:
        """The weights as they are now."""
        weights = (
            self.lookup,
            self.hidden.weight,
            self.hidden.bias,
            self.output.weight,
            self.output_bias,
        )
        return NnlmLayers(*(weight.detach().numpy().copy() for weight in weights), tied=self.tied)


class NnlmTrainer:
    """A network and Adam, which change with every step; `negatives` of 0 is the full softmax."""

    def __init__(self, network: NnlmNetwork, counts: Int64Array, negatives: int, seed: int) -> None:
        self.network = network
        self.optimizer = torch.optim.Adam(network.parameters(), betas=BETAS, fused=True)
        chances = (counts[:-1] + 1.0) / (counts[:-1] + 1.0).sum()
        self.negatives, self.chances = negatives, np.cumsum(chances)
        self.weights = -np.log(chances * max(1, negatives)).astype(np.float32)
        self.random = np.random.default_rng(seed)

    def step(self, rows: npt.NDArray[np.integer], learning_rate: float) -> float:
        """Learn from windows [batch, context + 1]; returns the loss before."""
        batch = torch.from_numpy(rows.astype(np.int64))
        contexts, targets = batch[:, :-1], batch[:, -1]
        if self.negatives:
            drawn = np.searchsorted(self.chances, self.random.random(self.negatives), side="right")
            drawn = np.minimum(drawn, len(self.chances) - 1)  # the last sum may miss 1 by a little
            weights = torch.from_numpy(self.weights[drawn])
            loss = self.network.sampled_loss(contexts, targets, torch.from_numpy(drawn), weights)
        else:
            loss = self.network.full_loss(contexts, targets)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss.item()

    def tensors(self) -> Tensors:
        """What steps change, but for `random`: the weights, Adam's memory, torch's generator."""
        found = {"generator": torch.random.get_rng_state().numpy()}
        for name, weight in self.network.named_parameters():
            found[name] = weight.detach().numpy()
            for part, value in self.optimizer.state[weight].items():
                found[f"{name} {part}"] = value.numpy()
        return found

    def restore(self, tensors: Tensors) -> None:
        """Go back to what `tensors` gave."""
        torch.random.set_rng_state(torch.from_numpy(tensors["generator"]))
        for name, weight in self.network.named_parameters():
            held = {part: torch.from_numpy(tensors[f"{name} {part}"]) for part in ADAM}
            if any(held[part].shape != weight.shape for part in ADAM[1:]):
                raise ValueError(f"what Adam knows of {name} does not fit it")
            if tensors[name].shape != weight.shape:
                raise ValueError(f"{name} has another shape")
            weight.data.copy_(torch.from_numpy(tensors[name]))
            self.optimizer.state[weight] = held


@contextmanager
def repeatable(seed: int, threads: int) -> Iterator[None]:
    """The same random numbers every time, on so many threads; torch is left as it was found."""
    before = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)
