"""Perplexity of held-out sentences, by the softmax over the whole vocabulary, per direction."""

from math import exp

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from malmoi.arrays import Float64Array, Int64Array
from malmoi.train.common.loop import DevScore
from malmoi.tune.elmo.batches import length_groups, word_grid
from malmoi.tune.elmo.network.bilm import DIRECTIONS
from malmoi.tune.elmo.trainer import ElmoTrainer

BATCH_WORDS = 1024
CHUNK_ROWS = 128  # whose logits are in memory at a time
MEASURED_WORDS = 5_000  # while training; the final perplexity is of all


class HeldOutPerplexity:
    """Measures a trainer on its held-out sentences; the score is minus the mean of the losses."""

    def __init__(self, trainer: ElmoTrainer) -> None:
        self.trainer = trainer
        lengths = trainer.text.held_out.lengths + 1
        self.measured = max(1, int(np.searchsorted(np.cumsum(lengths), MEASURED_WORDS)))
        self.latest: Float64Array = np.zeros(DIRECTIONS)

    def measure(self) -> DevScore:
        """The score on the first sentences, and the perplexity of each direction."""
        self.latest = np.exp(self.losses(self.measured))
        return DevScore(-float(np.log(self.latest).mean()), self.latest)

    def show(self, value: float) -> str:
        """The perplexities of both directions; after a resumption, of both together."""
        if self.latest.any():
            return "perplexity {:.1f} / {:.1f}".format(*self.latest)
        return f"perplexity {exp(-value):.1f}"

    @torch.no_grad()
    def losses(self, sentences: int | None = None) -> Float64Array:
        """The mean cross-entropy of each direction, in nats per word."""
        trainer, held_out = self.trainer, self.trainer.text.held_out
        rows = np.arange(len(held_out))[:sentences]
        trainer.network.eval()
        total, words = np.zeros(DIRECTIONS), 0
        for batch in length_groups(held_out, rows, BATCH_WORDS):
            grid = word_grid(trainer.text, batch, trainer.settings.widest_filter)
            hidden, targets = trainer.states(grid)
            losses = [
                self._losses(
                    hidden[first : first + CHUNK_ROWS], targets[first : first + CHUNK_ROWS]
                )
                for first in range(0, len(targets), CHUNK_ROWS)
            ]
            total += torch.cat(losses).double().reshape(DIRECTIONS, -1).sum(1).numpy()
            words += len(batch)
        trainer.network.train()
        return total / words

    def _losses(self, hidden: Tensor, targets: Int64Array) -> Tensor:
        """The cross-entropy of targets [rows] after states [rows, dim]."""
        table = self.trainer.table
        logits = functional.linear(hidden, table[:, :-1], table[:, -1])
        own = logits.gather(1, torch.from_numpy(targets)[:, None])
        highest = logits.amax(1, keepdim=True)
        sums = logits.sub_(highest).exp_().sum(1, keepdim=True)  # in memory once
        return (sums.log_() + highest - own).flatten()
