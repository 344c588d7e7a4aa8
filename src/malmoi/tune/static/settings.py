"""StaticSettings: how a static student is distilled from a teacher."""

from dataclasses import dataclass
from math import inf

from malmoi.errors import InvalidArgumentError


@dataclass(frozen=True, kw_only=True)
class StaticSettings:
    """How a static student is distilled from a teacher.

    With `threads=1` the same texts and seed give the same table, bit for bit.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    dim: int = 256
    """Dimensions of the vectors, by PCA of the teacher's."""
    vocabulary_size: int = 64_000
    """Tokens to learn from the texts, at most."""
    vocabulary: tuple[str, ...] = ()
    """WordPiece vocabularies (vocab.txt) instead."""
    epochs: int = 8
    """Passes over the texts."""
    learning_rate: float = 0.5
    """First rate of row-wise AdaGrad; it falls to 0."""
    smoothing: float = 1e-3
    """Parameter a of the first weights a / (a + share), SIF."""
    held_out: int = 1000
    """Texts to test on, at most a tenth of all."""
    field: str | None = None
    """Field or column that holds the text."""
    minutes: float | None = None
    """In all; the teacher then reads as many texts as fit."""
    seed: int = 1
    """Same seed, one thread: same table."""
    threads: int = 2
    """Number of threads."""

    def __post_init__(self) -> None:
        for name in ("dim", "epochs", "held_out", "threads", "vocabulary_size"):
            if getattr(self, name) < 1:
                raise InvalidArgumentError(
                    f"{name} is {getattr(self, name)}: it must be at least 1"
                )
        if self.seed < 0:
            raise InvalidArgumentError(f"seed is {self.seed}: it must be at least 0")
        for name in ("learning_rate", "smoothing", "minutes"):
            value = getattr(self, name)
            if value is not None and not 0 < value < inf:
                raise InvalidArgumentError(f"{name} is {value}: it must be a number above 0")
