"""SentenceTrainer: a network, its objectives and AdamW; one step at a time."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.files.tensors import Tensors
from malmoi.models.nnlm_network import ADAM_STATE
from malmoi.reporting.reporter import Reporter
from malmoi.train.common.memory import free_memory, in_megabytes
from malmoi.tune.data.batches import NumberedExamples
from malmoi.tune.network.sentence_network import ENCODE_TOKENS, SentenceNetwork, length_batches
from malmoi.tune.objectives import Objective, VectorColumns
from malmoi.tune.settings import TuneSettings

MAX_GRADIENT_NORM = 1.0  # as in the trainer of transformers
CACHED_SHARE = 0.5  # of the free memory, at most, for the output of frozen layers
BYTES_PER_NUMBER = 4


class SentenceTrainer:
    """Trains a network on texts that are known by their numbers."""

    def __init__(
        self,
        network: SentenceNetwork,
        objectives: Sequence[Objective],
        texts: Sequence[Int32Array],
        settings: TuneSettings,
    ) -> None:
        self.network, self.objectives, self.texts = network, objectives, texts
        self.mini_batch_size = settings.mini_batch_size
        self.states: list[Tensor] | None = None
        named = dict(network.named_parameters())
        for number, objective in enumerate(objectives):
            if isinstance(objective, nn.Module):
                named |= {f"objective.{number}.{n}": w for n, w in objective.named_parameters()}
        self.parameters = {name: weight for name, weight in named.items() if weight.requires_grad}
        self.optimizer = torch.optim.AdamW(
            self.parameters.values(), weight_decay=settings.weight_decay, fused=True
        )
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

    def step(
        self, examples: NumberedExamples, rows: Int64Array, objective: int, learning_rate: float
    ) -> float:
        """Train on some rows of examples; returns the loss before the step."""
        texts = examples.texts[rows].T.ravel()  # one column after the other
        labels = torch.from_numpy(examples.labels[rows])
        self.optimizer.zero_grad()
        loss = self._backward(texts, labels, objective, examples.texts.shape[1])
        nn.utils.clip_grad_norm_(self.parameters.values(), MAX_GRADIENT_NORM)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        self.optimizer.step()
        return loss

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

    def is_finite(self) -> bool:
        """Whether no weight is NaN or infinite."""
        return all(bool(torch.isfinite(weight).all()) for weight in self.parameters.values())

    def weights(self) -> Tensors:
        """A copy of all weights that are trained."""
        return {name: weight.detach().numpy().copy() for name, weight in self.parameters.items()}

    def load_weights(self, weights: Tensors) -> None:
        """Replace all weights that are trained."""
        for name, weight in self.parameters.items():
            if weights[name].shape != weight.shape:
                raise ValueError(f"{name} has the shape {weights[name].shape}")
            weight.data.copy_(torch.from_numpy(weights[name]))

    def tensors(self) -> Tensors:
        """Weights, AdamW's state and torch's generator, for a checkpoint."""
        tensors: Tensors = {"generator": torch.random.get_rng_state().numpy()}
        for name, weight in self.parameters.items():
            tensors[name] = weight.detach().numpy()
            for part, value in self.optimizer.state[weight].items():
                tensors[f"{name} {part}"] = value.numpy()
        return tensors

    def restore(self, tensors: Tensors) -> None:
        """Restore what `tensors` returned; weights that no step has changed have no state."""
        self.load_weights(tensors)
        torch.random.set_rng_state(torch.from_numpy(tensors["generator"]))
        for name, weight in self.parameters.items():
            if f"{name} {ADAM_STATE[0]}" in tensors:
                self.optimizer.state[weight] = {
                    part: torch.from_numpy(tensors[f"{name} {part}"]) for part in ADAM_STATE
                }


def _split(vectors: Tensor, columns: int) -> VectorColumns:
    return torch.split(vectors, len(vectors) // columns)
