"""DistillSettings: how a student learns a teacher's vectors. Does not import torch."""

from dataclasses import dataclass
from typing import Literal, get_args

from malmoi.errors import InvalidArgumentError
from malmoi.train.common.loop_settings import LoopSettings

LossName = Literal["mse", "cosine"]
TrainedRows = Literal["new", "all", "none"]


@dataclass(frozen=True, kw_only=True)
class DistillSettings(LoopSettings):
    """How a student learns a teacher's vectors.

    If the student is the teacher with new tokens, only the rows of these are trained by default, so
    that texts of the source language keep their vectors exactly; all layers otherwise.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    batch_size: int = 64
    """Texts per step."""
    learning_rate: float = 5e-5
    """Peak learning rate of the layers."""
    eval_steps: int | None = 200
    """Steps between measures of the held-out pairs."""
    teacher: str = "minilm"
    """The encoder whose vectors are learnt."""
    bridge: str | None = None
    """An encoder of both languages, for --texts."""
    loss: LossName = "cosine"
    """mse (Reimers and Gurevych 2020) or cosine."""
    similarity_weight: float = 10.0
    """Weight of the error of the cosines in a batch."""
    rows: TrainedRows = "new"
    """Token rows to train: new to the teacher, all, none."""
    rows_learning_rate: float = 2e-3
    """Peak learning rate of the token rows."""
    train_layers: int | None = None
    """Train so many of the lowest layers, or all."""
    held_out: int = 500
    """Pairs held out, unless --translations has some."""
    columns: tuple[str, ...] = ()
    """Columns of the source and target texts: EN,KO."""
    field: str | None = None
    """Field or column of --texts and --source-texts."""
    force: bool = False
    """Go on where the guard sees a collapse."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, choices in (("loss", LossName), ("rows", TrainedRows)):
            known = get_args(choices)
            if getattr(self, name) not in known:
                value = getattr(self, name)
                raise InvalidArgumentError(f"{name} is '{value}': choose one of {', '.join(known)}")
        self.check_at_least("train_layers", 0)
        self.check_at_least("held_out", 2)
        self.check_positive("rows_learning_rate")
        if not 0 <= self.similarity_weight < float("inf"):
            raise InvalidArgumentError(
                f"similarity_weight is {self.similarity_weight}: it must be at least 0"
            )
        if self.train_layers == 0 and self.rows == "none":
            raise InvalidArgumentError(
                "train_layers is 0 and rows is none: nothing would be trained; choose rows new or"
                " all, or train some layers"
            )
        if len(",".join(self.columns).split(",")) != 2 and self.columns:  # the command splits A,B
            raise InvalidArgumentError(
                f"columns are {', '.join(self.columns)}: name two, of the source and target texts"
            )
