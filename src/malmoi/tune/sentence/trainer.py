"""SentenceTrainer: a network and its objectives; one step at a time."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.reporting.reporter import Reporter
from malmoi.train.common.memory import free_memory, in_megabytes
from malmoi.tune.data.batches import ExampleBatch, NumberedExamples
from malmoi.tune.network.adamw import AdamWTrainer
from malmoi.tune.network.sentence_network import ENCODE_TOKENS, SentenceNetwork, length_batches
from malmoi.tune.sentence.objectives import Objective, VectorColumns

CACHED_SHARE = 0.5  # of the free memory, at most, for the output of frozen layers
BYTES_PER_NUMBER = 4


class SentenceTrainer(AdamWTrainer):
    """Trains a network on texts that are known by their numbers.

    `sets` are the examples, each with one of the `objectives`. With a `mini_batch_size`, only so
    many examples are in memory at a time. The weights of objectives have the learning rate of the
    network times `objective_factor`.
    """

    def __init__(
        self,
        network: SentenceNetwork,
        objectives: Sequence[Objective],
        texts: Sequence[Int32Array],
        sets: Sequence[NumberedExamples],
        *,
        mini_batch_size: int | None = None,
        weight_decay: float = 0.0,
        objective_factor: float = 1.0,
    ) -> None:
        self.network, self.objectives = network, objectives
        self.texts, self.sets = texts, sets
        self.mini_batch_size = mini_batch_size
        self.states: list[Tensor] | None = None
        own = {
            f"objective.{number}.{name}": weight
            for number, objective in enumerate(objectives)
            if isinstance(objective, nn.Module)
            for name, weight in objective.named_parameters()
        }
        factors = dict.fromkeys(own, objective_factor)
        super().__init__(dict(network.named_parameters()) | own, weight_decay, factors)
        network.train()

    def cache_states(self, reporter: Reporter) -> None:
        """Compute the output of the frozen layers for all texts, if it fits into memory."""
        if not self.network.freeze_layers:
            return
        size = sum(map(len, self.texts)) * self.network.config.dim * BYTES_PER_NUMBER
        free = free_memory()
        if free is not None and size > CACHED_SHARE * free:
            reporter.warn(
                f"the output of the frozen layers is {in_megabytes(size)}, too much to be cached:"
                " they are computed in each step"
            )
            return
        progress, done = reporter.stage("frozen layers", "texts"), 0
        states: dict[int, Tensor] = {}
        for some in length_batches([len(text) for text in self.texts], ENCODE_TOKENS):
            rows = self.network.frozen_states([self.texts[i] for i in some])
            parts = torch.split(rows, [len(self.texts[i]) for i in some])
            states |= dict(zip(some, parts, strict=True))
            done += len(some)
            progress(done, len(self.texts))
        self.states = [states[i] for i in range(len(self.texts))]

    def vectors(self, numbers: Int64Array) -> Float32Array:
        """The vectors of texts by the network as it is now, [texts, dim]."""
        states = None if self.states is None else [self.states[i] for i in numbers]
        return self.network.encode([self.texts[i] for i in numbers], states)

    def step(self, batch: ExampleBatch, learning_rate: float) -> float:
        """Train on some rows of a data set; returns the loss before the step."""
        loss = self.backward(batch)
        self.update(learning_rate)
        return loss

    def backward(self, batch: ExampleBatch) -> float:
        """Compute the gradients of all weights; returns the loss."""
        examples = self.sets[batch.data_set]
        texts = examples.texts[batch.rows].T.ravel()  # one column after the other
        labels = torch.from_numpy(examples.labels[batch.rows])
        return self._backward(texts, labels, batch.data_set, examples.texts.shape[1])

    def _backward(self, texts: Int64Array, labels: Tensor, objective: int, columns: int) -> float:
        """Compute all gradients; returns the loss."""
        size = (self.mini_batch_size or len(texts)) * columns
        if size >= len(texts):
            vectors = self._run(texts)
            loss = self.objectives[objective](_split(vectors, columns), labels)
            loss.backward()  # type: ignore[no-untyped-call]
            return loss.item()
        return self._cached_backward(texts, labels, objective, columns, size)

    def _cached_backward(
        self, texts: Int64Array, labels: Tensor, objective: int, columns: int, size: int
    ) -> float:
        """The same with gradient caching (Gao et al. 2021): activations of `size` texts at a time.

        Vectors are computed without gradients, then the gradients of the loss by vectors, and
        then those by weights part by part, with the same dropout.
        """
        parts = [texts[start : start + size] for start in range(0, len(texts), size)]
        generators, vectors = [], []
        for part in parts:
            generators.append(torch.random.get_rng_state())
            with torch.no_grad():
                vectors.append(self._run(part))
        joined = torch.cat(vectors).requires_grad_()
        loss = self.objectives[objective](_split(joined, columns), labels)
        loss.backward()  # type: ignore[no-untyped-call]
        assert joined.grad is not None
        gradients = torch.split(joined.grad, [len(part) for part in parts])
        for part, generator, gradient in zip(parts, generators, gradients, strict=True):
            torch.random.set_rng_state(generator)
            self._run(part).backward(gradient)  # type: ignore[no-untyped-call]
        return loss.item()

    def _run(self, numbers: Int64Array) -> Tensor:
        states = None if self.states is None else torch.cat([self.states[i] for i in numbers])
        vectors: Tensor = self.network([self.texts[i] for i in numbers], states)
        return vectors


def _split(vectors: Tensor, columns: int) -> VectorColumns:
    return torch.split(vectors, len(vectors) // columns)
