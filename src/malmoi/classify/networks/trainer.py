"""NetworkTrainer: a network on embeddings and its loss; one step at a time."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from malmoi.arrays import Float32Array, Float64Array, Int32Array, Int64Array
from malmoi.classify.networks.losses import ClassLoss
from malmoi.classify.networks.network import EmbeddingNetwork
from malmoi.classify.networks.network_classifier import EMBEDDING
from malmoi.files.tensors import Tensors
from malmoi.tune.data.batches import length_sorted
from malmoi.tune.network.adamw import AdamWTrainer
from malmoi.tune.network.row_adam import RowAdam
from malmoi.tune.network.sentence_network import length_batches

SCORE_UNITS = 16_384  # of a batch without gradients, padding included


class NetworkTrainer(AdamWTrainer):
    """Trains a network on texts that are rows of units; `targets` are float32 [texts, outputs].

    AdamW updates the layers; of the embedding, only the rows of a batch are updated, at a rate of
    their own (`rows_factor`).
    """

    def __init__(
        self,
        network: EmbeddingNetwork,
        loss: ClassLoss,
        texts: Sequence[Int32Array],
        targets: Float32Array,
        *,
        weight_decay: float = 0.0,
        rows_factor: float = 1.0,
    ) -> None:
        self.network, self.loss, self.rows_factor = network, loss, rows_factor
        self.texts, self.targets = texts, torch.from_numpy(targets)
        named = dict(network.named_parameters())
        table = named.pop(EMBEDDING)
        super().__init__(named, weight_decay)
        self.rows = RowAdam(table) if table.requires_grad else None
        if self.rows is not None:
            self.parameters = self.parameters | {EMBEDDING: table}
        network.train()

    def step(self, batch: Int64Array, learning_rate: float) -> float:
        """Train on some texts; returns the loss before the step."""
        scores = self.network([self.texts[i] for i in batch])
        loss: Tensor = self.loss(scores, self.targets[batch])
        loss.backward()  # type: ignore[no-untyped-call]
        if self.rows is not None:
            self.rows.update(self.rows_factor * learning_rate)
        self.update(learning_rate)
        return loss.item()

    def tensors(self) -> Tensors:
        """Weights and the state of both optimizers, for a checkpoint."""
        own = super().tensors()
        return own if self.rows is None else own | self.rows.tensors()

    def restore(self, tensors: Tensors) -> None:
        """Restore what `tensors` returned."""
        super().restore(tensors)
        if self.rows is not None:
            self.rows.restore(tensors)


@torch.no_grad()
def network_scores(network: EmbeddingNetwork, texts: Sequence[Int32Array]) -> Float64Array:
    """Scores [texts, outputs] without gradients or dropout, in batches of similar length."""
    was_training = network.training
    network.eval()
    scores = np.zeros((len(texts), network.shape.outputs))
    for some in length_batches([len(text) for text in texts], SCORE_UNITS):
        scores[some] = network([texts[i] for i in some]).numpy()
    network.train(was_training)
    return scores


def shuffled_batches(
    lengths: Int64Array, rows: Int64Array, batch_size: int, seed: Sequence[int]
) -> list[Int64Array]:
    """Rows of texts in batches of similar length, in an order of their own."""
    random = np.random.default_rng(seed)
    batches = length_sorted(lengths, random.permutation(rows), batch_size)
    return [batches[i] for i in random.permutation(len(batches))]
