"""TuneSettings: how a sentence encoder is tuned. Does not import torch."""

from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

from malmoi.errors import InvalidArgumentError

ObjectiveName = Literal[
    "softmax",
    "cosine",
    "triplet",
    "multiple_negatives",
    "cosent",
    "contrastive",
    "online_contrastive",
    "margin_mse",
    "mse",
]
OBJECTIVE_NAMES: tuple[ObjectiveName, ...] = get_args(ObjectiveName)


@dataclass(frozen=True, kw_only=True)
class TuneSettings:
    """How a sentence encoder is tuned.

    Attributes:
        objective: The loss; without one, that which suits the columns of the data.
        columns: The columns of the texts and then of the label, where they cannot be detected.
        epochs: How often each example is used.
        batch_size: Examples per step.
        mini_batch_size: Examples whose activations are in memory at a time (gradient caching);
            without it, the whole batch.
        learning_rate: The highest learning rate of AdamW, after the warm-up.
        warmup: The share of the steps in which the learning rate rises; it falls to 0 after.
        weight_decay: The weight decay of AdamW.
        dropout: The share of hidden values that are dropped; 0 is fastest.
        freeze_layers: This many of the lowest layers do not change; their output is computed
            once and cached.
        train_embeddings: Train the table of tokens as well, unless layers are frozen.
        scale: The factor of cosines in multiple_negatives and cosent.
        margin: The margin of triplet (5), contrastive and online_contrastive (0.5).
        matryoshka_dims: Train the vectors truncated to these dimensions as well.
        teacher: The encoder whose vectors are the targets of mse.
        eval_steps: Score the dev set after so many steps; by default twice per epoch.
        patience: Stop after so many dev scores without a new best one; 0 is never.
        minutes: Stop after so many minutes.
        threads: The number of threads of torch.
        seed: Seed of the order of the examples and of dropout.

    Raises:
        InvalidArgumentError: A setting is out of its range.
    """

    objective: ObjectiveName | None = None
    columns: tuple[str, ...] = ()
    epochs: int = 4
    batch_size: int = 16
    mini_batch_size: int | None = None
    learning_rate: float = 2e-5
    warmup: float = 0.1
    weight_decay: float = 0.0
    dropout: float = 0.0
    freeze_layers: int = 0
    train_embeddings: bool = False
    scale: float = 20.0
    margin: float | None = None
    matryoshka_dims: tuple[int, ...] = ()
    teacher: str | None = None
    eval_steps: int | None = None
    patience: int = 0
    minutes: float | None = None
    threads: int = 2
    seed: int = 1

    def __post_init__(self) -> None:
        if self.objective is not None and self.objective not in OBJECTIVE_NAMES:
            known = ", ".join(OBJECTIVE_NAMES)
            raise InvalidArgumentError(f"objective is '{self.objective}': choose one of {known}")
        for name in ("epochs", "batch_size", "threads"):
            self._check_at_least(name, 1)
        for name in ("freeze_layers", "patience", "seed"):
            self._check_at_least(name, 0)
        for name in ("mini_batch_size", "eval_steps"):
            if getattr(self, name) is not None:
                self._check_at_least(name, 1)
        for name in ("learning_rate", "scale", "margin", "minutes"):
            value = getattr(self, name)
            if value is not None and not 0 < value < inf:
                raise InvalidArgumentError(f"{name} is {value}: it must be a number above 0")
        for name in ("warmup", "weight_decay", "dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise InvalidArgumentError(
                    f"{name} is {getattr(self, name)}: it must be at least 0 and below 1"
                )
        if any(dim < 1 for dim in self.matryoshka_dims):
            raise InvalidArgumentError(
                f"matryoshka_dims are {self.matryoshka_dims}: each must be at least 1"
            )

    def _check_at_least(self, name: str, least: int) -> None:
        if getattr(self, name) < least:
            raise InvalidArgumentError(
                f"{name} is {getattr(self, name)}: it must be at least {least}"
            )
