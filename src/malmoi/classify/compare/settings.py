"""CompareSettings: how classifiers are compared."""

from dataclasses import dataclass

from malmoi.errors import InvalidArgumentError

MAX_SEEDS = 20


@dataclass(frozen=True, kw_only=True)
class CompareSettings:
    """How classifiers are compared.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    columns: tuple[str, ...] = ()
    """Columns of the text and of the label."""
    label_separator: str = ""
    """Separates several labels of one text, such as , or |."""
    test_share: float = 0.2
    """Share of the texts to test on."""
    folds: int = 0
    """Test each text once, in so many folds, instead of seeds."""
    seeds: int = 3
    """How many random splits to average over."""
    seed: int = 1
    """The first seed."""
    curve: bool = True
    """Also train on 10 % and 30 % of the texts."""
    minutes: float | None = None
    """Stop after so many minutes, with what is there."""
    cache: bool = True
    """Keep finished runs and vectors in the cache folder."""

    def __post_init__(self) -> None:
        if not 0 < self.test_share < 1:
            raise InvalidArgumentError(
                f"test_share is {self.test_share}: it must be above 0 and below 1"
            )
        if self.folds and not 2 <= self.folds <= MAX_SEEDS:
            raise InvalidArgumentError(
                f"folds is {self.folds}: choose from 2 to {MAX_SEEDS}, or 0 for random splits"
            )
        if not 1 <= self.seeds <= MAX_SEEDS:
            raise InvalidArgumentError(f"seeds is {self.seeds}: choose from 1 to {MAX_SEEDS}")
        if self.seed < 0:
            raise InvalidArgumentError(f"seed is {self.seed}: it must be at least 0")
        if self.minutes is not None and self.minutes <= 0:
            raise InvalidArgumentError(f"minutes is {self.minutes}: it must be above 0")
