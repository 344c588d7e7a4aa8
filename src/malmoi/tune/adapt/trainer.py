"""CorpusTrainer: a network and what it learns from raw text; one step at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from malmoi.arrays import Float32Array, Float64Array, Int32Array, Int64Array
from malmoi.files.tensors import Tensors
from malmoi.tune.adapt.masking import Passage
from malmoi.tune.network.adamw import AdamWTrainer
from malmoi.tune.network.sentence_network import SentenceNetwork, length_batches

HELD_OUT_TOKENS = 1024  # of a batch of held-out passages
HELD_OUT_SEED = 7


@dataclass(frozen=True, eq=False)
class CorpusBatch:
    """Rows of a corpus, and the seed of what is drawn at random for them."""

    rows: Int64Array
    seed: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def random(self) -> np.random.Generator:
        """The generator of this batch: always the same, so that a run can resume."""
        return np.random.default_rng(self.seed)


class CorpusObjective(Protocol):
    """The loss of a batch; `extra` has the weights that are trained along and not encoded with."""

    @property
    def extra(self) -> nn.Module:
        """Weights beside those of the network."""

    def loss(self, batch: CorpusBatch) -> Tensor:
        """The mean loss of a batch."""


@runtime_checkable
class TokenObjective(CorpusObjective, Protocol):
    """An objective that predicts tokens, so that it has a perplexity."""

    def token_losses(
        self, passages: Sequence[Passage], random: np.random.Generator
    ) -> tuple[Tensor, list[int]]:
        """The cross-entropy of each token to predict, and the number of them per passage."""


class CorpusTrainer(AdamWTrainer):
    """Trains a network with an objective on rows of a corpus."""

    def __init__(
        self, network: SentenceNetwork, objective: CorpusObjective, weight_decay: float = 0.0
    ) -> None:
        self.network, self.objective = network, objective
        named = dict(network.named_parameters())
        named |= {f"extra.{name}": w for name, w in objective.extra.named_parameters()}
        super().__init__(named, weight_decay)
        self.initial = self.weights()
        network.train()

    def step(self, batch: CorpusBatch, learning_rate: float) -> float:
        """Train on a batch; returns the loss before the step."""
        loss = self.objective.loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        self.update(learning_rate)
        return loss.item()

    def vectors(self, texts: Sequence[Int32Array]) -> Float32Array:
        """The vectors of texts by the network as it is now, [texts, dim]."""
        return self.network.encode(texts)

    def mix(self, share: float) -> None:
        """Interpolate the weights: a share of those of now, the rest of the initial ones.

        The mean of two models is often better than both (Wortsman et al. 2022).
        """
        now = self.weights()
        mixed: Tensors = {
            name: (share * now[name] + (1 - share) * weight).astype(weight.dtype)
            for name, weight in self.initial.items()
        }
        self.load_weights(mixed)

    @torch.no_grad()
    def held_out_losses(
        self, passages: Sequence[Passage]
    ) -> tuple[Float64Array, Int64Array] | None:
        """The sum of the losses and the number of tokens per passage; always the same masks.

        None if the objective predicts no tokens.
        """
        objective = self.objective
        if not isinstance(objective, TokenObjective):
            return None
        self.network.eval()
        sums, counts = np.zeros(len(passages)), np.zeros(len(passages), np.int64)
        for some in length_batches([len(passage) for passage in passages], HELD_OUT_TOKENS):
            random = np.random.default_rng([HELD_OUT_SEED, *some])
            losses, sizes = objective.token_losses([passages[i] for i in some], random)
            parts = torch.split(losses.double(), sizes)
            sums[some] = [float(part.sum()) for part in parts]
            counts[some] = sizes
        self.network.train()
        return sums, counts
