"""AdamWTrainer: named weights, AdamW, and both as tensors of a checkpoint."""

from collections.abc import Mapping

import torch
from torch import nn

from malmoi.files.tensors import Tensors
from malmoi.models.nnlm_network import ADAM_STATE

MAX_GRADIENT_NORM = 1.0  # as in the trainer of transformers


class AdamWTrainer:
    """Updates the weights that require a gradient; a subclass computes the gradients.

    `rate_factors` has factors of the learning rate by the name of a weight, where not 1.
    """

    def __init__(
        self,
        named: Mapping[str, nn.Parameter],
        weight_decay: float = 0.0,
        rate_factors: Mapping[str, float] | None = None,
    ) -> None:
        self.parameters = {name: weight for name, weight in named.items() if weight.requires_grad}
        factors = rate_factors or {}
        groups: dict[float, list[nn.Parameter]] = {1.0: []}
        for name, weight in self.parameters.items():
            groups.setdefault(factors.get(name, 1.0), []).append(weight)
        self.optimizer = torch.optim.AdamW(
            [{"params": weights, "factor": factor} for factor, weights in groups.items()],
            weight_decay=weight_decay,
            fused=True,
        )

    def update(self, learning_rate: float) -> None:
        """One step of AdamW by gradients that are clipped, and then forgotten."""
        nn.utils.clip_grad_norm_(self.parameters.values(), MAX_GRADIENT_NORM)
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate * group["factor"]
        self.optimizer.step()
        self.optimizer.zero_grad()

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
