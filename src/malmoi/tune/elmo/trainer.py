"""ElmoTrainer: the network, the softmax and their optimizers; one step at a time."""

import numpy as np
import torch
from torch import Tensor, nn

from malmoi.arrays import Float32Array, Int64Array
from malmoi.files.tensors import Tensors
from malmoi.tune.elmo.batches import SentenceBatch, WordGrid, word_grid
from malmoi.tune.elmo.network.bilm import BidirectionalLm
from malmoi.tune.elmo.network.sampled_softmax import CandidateSampler, softmax_loss
from malmoi.tune.elmo.sentences import CorpusText
from malmoi.tune.elmo.settings import Elmo
from malmoi.tune.network.adamw import AdamWTrainer
from malmoi.tune.network.linear import has_bfloat16, multiply_in_bfloat16
from malmoi.tune.network.row_adam import RowAdam

SOFTMAX = "softmax"  # the table [words, dim + 1]: the last number of a row is its bias


class ElmoTrainer(AdamWTrainer):
    """Trains both directions on batches of sentences of one length.

    AdamW updates the network; of the softmax only the candidates of a batch have a gradient, and
    only their rows are updated.
    """

    def __init__(self, text: CorpusText, settings: Elmo, softmax: Float32Array) -> None:
        self.text, self.settings = text, settings
        self.network = BidirectionalLm(settings)
        if has_bfloat16():
            self.network.uses_bfloat16 = True
            multiply_in_bfloat16(self.network)
        super().__init__(dict(self.network.named_parameters()), settings.weight_decay)
        self.table = nn.Parameter(torch.from_numpy(softmax), requires_grad=False)
        self.rows = RowAdam(self.table)
        self.parameters = self.parameters | {SOFTMAX: self.table}
        self.sampler = CandidateSampler(text.words.counts, settings.negative_samples)
        self.network.train()

    def step(self, batch: SentenceBatch, learning_rate: float) -> float:
        """Train on a batch; returns the mean loss of both directions before the step."""
        grid = word_grid(self.text, batch, self.settings.widest_filter)
        hidden, targets = self.states(grid)
        candidates = self.sampler.sample(targets, np.random.default_rng(batch.seed))
        rows = torch.from_numpy(candidates.rows)
        weights = self.table[rows].requires_grad_()
        loss = softmax_loss(
            hidden,
            weights[:, :-1],
            weights[:, -1] + torch.from_numpy(candidates.corrections),
            torch.from_numpy(np.searchsorted(candidates.rows, targets)),
            in_bfloat16=self.network.uses_bfloat16,
        )
        # A batch with few words takes a small step, not a random one of full length.
        scaled = loss * (len(batch) / max(len(batch), self.settings.batch_size))
        scaled.backward()  # type: ignore[no-untyped-call]
        gradient = weights.grad if weights.grad is not None else torch.zeros_like(weights)
        self.table.grad = torch.sparse_coo_tensor(
            rows[None], gradient, self.table.shape, is_coalesced=True, check_invariants=False
        )
        self.rows.update(learning_rate)
        self.update(learning_rate)
        return loss.item()

    def states(self, grid: WordGrid) -> tuple[Tensor, Int64Array]:
        """The states that predict words [2 · words, dim], forward first, and the targets."""
        groups = [torch.from_numpy(group.astype(np.int64)) for group in grid.groups]
        hidden = self.network(groups, torch.from_numpy(grid.positions))
        targets = np.stack([grid.targets[1:], grid.targets[::-1][1:]])
        return hidden.flatten(0, 2), targets.ravel()

    def tensors(self) -> Tensors:
        """Weights and the state of both optimizers, for a checkpoint."""
        return super().tensors() | self.rows.tensors()

    def restore(self, tensors: Tensors) -> None:
        """Restore what `tensors` returned."""
        super().restore(tensors)
        self.rows.restore(tensors)
