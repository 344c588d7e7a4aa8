"""TuneSettings: how a sentence encoder is tuned. Does not import torch."""

from dataclasses import dataclass
from typing import Literal, get_args

from malmoi.errors import InvalidArgumentError
from malmoi.train.common.loop_settings import LoopSettings

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
TunePrecision = Literal["auto", "float32", "bfloat16"]
OBJECTIVE_NAMES: tuple[ObjectiveName, ...] = get_args(ObjectiveName)


@dataclass(frozen=True, kw_only=True)
class TuneSettings(LoopSettings):
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
    mini_batch_size: int | None = None
    """Examples in memory at a time (gradient caching)."""
    dropout: float = 0.0
    """Share of hidden values dropped while training."""
    freeze_layers: int = 0
    """Freeze this many of the lowest layers."""
    train_embeddings: bool = False
    """Train the table of tokens too."""
    precision: TunePrecision = "auto"
    """Of products in training; auto: bfloat16 if fast."""
    scale: float = 20.0
    """Factor of cosines (multiple_negatives, cosent)."""
    margin: float | None = None
    """Margin of triplet (5) and contrastive (0.5)."""
    matryoshka_dims: tuple[int, ...] = ()
    """Train vectors truncated to these sizes too."""
    teacher: str | None = None
    """mse: the encoder whose vectors are the targets."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.objective is not None and self.objective not in OBJECTIVE_NAMES:
            known = ", ".join(OBJECTIVE_NAMES)
            raise InvalidArgumentError(f"objective is '{self.objective}': choose one of {known}")
        if self.precision not in get_args(TunePrecision):
            known = ", ".join(get_args(TunePrecision))
            raise InvalidArgumentError(f"precision is '{self.precision}': choose one of {known}")
        self.check_at_least("mini_batch_size", 1)
        self.check_at_least("freeze_layers", 0)
        self.check_positive("scale", "margin")
        self.check_share("dropout")
        if any(dim < 1 for dim in self.matryoshka_dims):
            raise InvalidArgumentError(
                f"matryoshka_dims are {self.matryoshka_dims}: each must be at least 1"
            )
        if (self.objective == "mse") != (self.teacher is not None):
            raise InvalidArgumentError(
                f"objective is {self.objective} and teacher is {self.teacher}: objective mse needs"
                " a teacher, and only mse has one"
            )
