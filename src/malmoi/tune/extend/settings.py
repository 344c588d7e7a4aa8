"""ExtendSettings: which tokens a vocabulary extension adds, and how their rows are computed."""

from dataclasses import dataclass
from math import isfinite
from typing import Literal, get_args

from malmoi.encode.checkpoint.locate import UNIVERSAL
from malmoi.errors import InvalidArgumentError

SyllableSet = Literal["common", "all"]


@dataclass(frozen=True, kw_only=True)
class ExtendSettings:
    """Which tokens are added to a vocabulary, and how their rows are computed.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    through: str = UNIVERSAL
    """An encoder that reads both languages."""
    parallel: tuple[str, ...] = ()
    """Tables of sentences and their translations."""
    field: str | None = None
    """Field or column of the texts that holds the text."""
    size: int = 30_000
    """Tokens to learn from the texts."""
    syllables: SyllableSet = "common"
    """Hangul to add: 2,350 and those seen, or all."""
    neighbours: int = 10
    """Known tokens that a new row is a mean of."""
    temperature: float = 0.05
    """Temperature of the softmax of their cosines."""

    def __post_init__(self) -> None:
        for name in ("size", "neighbours"):
            if getattr(self, name) < 1:
                raise InvalidArgumentError(
                    f"{name} is {getattr(self, name)}: it must be at least 1"
                )
        if not self.temperature > 0 or not isfinite(self.temperature):
            raise InvalidArgumentError(
                f"temperature is {self.temperature}: it must be a number above 0"
            )
        if self.syllables not in get_args(SyllableSet):
            raise InvalidArgumentError(
                f"syllables is {self.syllables!r}: choose from {', '.join(get_args(SyllableSet))}"
            )
