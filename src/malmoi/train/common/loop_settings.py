"""LoopSettings: epochs, batches, learning rate and limits of a tuning. Does not import torch."""

from dataclasses import dataclass
from math import inf

from malmoi.errors import InvalidArgumentError


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """Epochs, batches, learning rate and limits of a training; with `threads=1` the same seed
    gives the same model, bit for bit.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    epochs: int = 4
    """Passes over the examples."""
    batch_size: int = 16
    """Examples per step."""
    learning_rate: float = 2e-5
    """Peak learning rate of AdamW."""
    warmup: float = 0.1
    """Share of the training in which the rate rises."""
    weight_decay: float = 0.0
    """Weight decay of AdamW."""
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
        for name in ("epochs", "batch_size", "threads", "eval_steps"):
            self.check_at_least(name, 1)
        for name in ("patience", "seed"):
            self.check_at_least(name, 0)
        self.check_positive("learning_rate", "minutes")
        self.check_share("warmup", "weight_decay")

    def check_at_least(self, name: str, least: int) -> None:
        """Raise InvalidArgumentError if a setting is below `least`; None is allowed."""
        value = getattr(self, name)
        if value is not None and value < least:
            raise InvalidArgumentError(f"{name} is {value}: it must be at least {least}")

    def check_positive(self, *names: str) -> None:
        """Raise InvalidArgumentError if a setting is not a finite number above 0, or None."""
        for name in names:
            value = getattr(self, name)
            if value is not None and not 0 < value < inf:
                raise InvalidArgumentError(f"{name} is {value}: it must be a number above 0")

    def check_share(self, *names: str) -> None:
        """Raise InvalidArgumentError if a setting is not at least 0 and below 1."""
        for name in names:
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise InvalidArgumentError(f"{name} is {value}: it must be at least 0 and below 1")
