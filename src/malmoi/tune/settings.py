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

    Without an `objective`, that which suits the columns of the data is used. With `threads=1` the
    same seed gives the same model, bit for bit.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    objective: ObjectiveName | None = None
    """The loss; by default that which suits the data."""
    columns: tuple[str, ...] = ()
    """Columns of the texts and the label: A,B,SCORE."""
    epochs: int = 4
    """Passes over the examples."""
    batch_size: int = 16
    """Examples per step."""
    mini_batch_size: int | None = None
    """Examples in memory at a time (gradient caching)."""
    learning_rate: float = 2e-5
    """Peak learning rate of AdamW."""
    warmup: float = 0.1
    """Share of the training in which the rate rises."""
    weight_decay: float = 0.0
    """Weight decay of AdamW."""
    dropout: float = 0.0
    """Share of hidden values dropped while training."""
    freeze_layers: int = 0
    """Freeze this many of the lowest layers."""
    train_embeddings: bool = False
    """Train the table of tokens too."""
    scale: float = 20.0
    """Factor of cosines (multiple_negatives, cosent)."""
    margin: float | None = None
    """Margin of triplet (5) and contrastive (0.5)."""
    matryoshka_dims: tuple[int, ...] = ()
    """Train vectors truncated to these sizes too."""
    teacher: str | None = None
    """mse: the encoder whose vectors are the targets."""
    eval_steps: int | None = None
    """Steps between dev scores; by default half an epoch."""
    patience: int = 0
    """Stop after so many dev scores without a new best."""
    minutes: float | None = None
    """Stop after so many minutes."""
    seed: int = 1
    """Same seed, one thread: same model."""
    threads: int = 2
    """Number of threads."""

    def __post_init__(self) -> None:
        if self.objective is not None and self.objective not in OBJECTIVE_NAMES:
            known = ", ".join(OBJECTIVE_NAMES)
            raise InvalidArgumentError(f"objective is '{self.objective}': choose one of {known}")
        for name in ("epochs", "batch_size", "threads", "mini_batch_size", "eval_steps"):
            self._check_at_least(name, 1)
        for name in ("freeze_layers", "patience", "seed"):
            self._check_at_least(name, 0)
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
        if (self.objective == "mse") != (self.teacher is not None):
            raise InvalidArgumentError(
                f"objective is {self.objective} and teacher is {self.teacher}: objective mse needs"
                " a teacher, and only mse has one"
            )

    def _check_at_least(self, name: str, least: int) -> None:
        value = getattr(self, name)
        if value is not None and value < least:
            raise InvalidArgumentError(f"{name} is {value}: it must be at least {least}")
