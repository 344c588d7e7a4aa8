"""DistillTrainer: a student network and its targets; one step at a time."""

from collections.abc import Callable, Sequence

import torch

from malmoi.arrays import BoolArray, Float32Array, Int32Array
from malmoi.files.tensors import Tensors
from malmoi.tune.data.batches import ExampleBatch
from malmoi.tune.distill.losses import DistillLoss
from malmoi.tune.network.adamw import AdamWTrainer
from malmoi.tune.network.row_adam import RowAdam
from malmoi.tune.network.sentence_network import SentenceNetwork

TABLE = "word_embeddings"  # of tokens, among the embeddings of a network


class DistillTrainer(AdamWTrainer):
    """Trains a network to give texts their target vectors.

    Args:
        network: The student.
        texts: The token ids of each text.
        targets: One vector per text, [texts, dim].
        loss: The loss of a batch.
        is_trained: Which rows of the table of tokens are trained; None for no row.
        rows_factor: The learning rate of these rows, as a factor of that of the layers.
        weight_decay: That of AdamW, for the layers.
        after_step: Called with the number of steps and the learning rate; an error ends the run.
    """

    def __init__(
        self,
        network: SentenceNetwork,
        texts: Sequence[Int32Array],
        targets: Float32Array,
        loss: DistillLoss,
        *,
        is_trained: BoolArray | None = None,
        rows_factor: float = 20.0,
        weight_decay: float = 0.0,
        after_step: Callable[[int, float], None] = lambda step, rate: None,
    ) -> None:
        self.network, self.loss, self.after_step = network, loss, after_step
        self.texts, self.targets = texts, torch.from_numpy(targets)
        self.steps, self.rows_factor = 0, rows_factor
        super().__init__(dict(network.named_parameters()), weight_decay)
        self.rows: RowAdam | None = None
        if is_trained is not None:
            network.sparse_rows = True
            table = network.embeddings[TABLE].requires_grad_()
            self.rows = RowAdam(table, is_trained)
            self.parameters = self.parameters | {TABLE: table}
        network.train()

    def step(self, batch: ExampleBatch, learning_rate: float) -> float:
        """Train on some texts; returns the loss before the step."""
        vectors = self.network([self.texts[row] for row in batch.rows])
        loss = self.loss(vectors, self.targets[batch.rows])
        loss.backward()  # type: ignore[no-untyped-call]
        if self.rows is not None:
            self.rows.update(learning_rate * self.rows_factor)
        self.update(learning_rate)
        self.steps += 1
        self.after_step(self.steps, learning_rate)
        return loss.item()

    def tensors(self) -> Tensors:
        """Weights and the state of both optimizers, for a checkpoint."""
        tensors = super().tensors() | {"steps": torch.tensor([self.steps]).numpy()}
        return tensors if self.rows is None else tensors | self.rows.tensors()

    def restore(self, tensors: Tensors) -> None:
        """Restore what `tensors` returned."""
        super().restore(tensors)
        self.steps = int(tensors["steps"][0])
        if self.rows is not None:
            self.rows.restore(tensors)
