"""LayerSettings: how layer weights are learned from labelled texts."""

from dataclasses import dataclass

from malmoi.encode.pooling.groups import Pool
from malmoi.errors import InvalidArgumentError

LINEAR_POOLS: tuple[Pool, ...] = ("mean", "cls", "mean_sqrt", "first", "last")


@dataclass(frozen=True, kw_only=True)
class LayerSettings:
    """How layer weights are learned.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    columns: tuple[str, ...] = ()
    """Columns of the text and of the class."""
    pool: Pool = "mean"
    """How tokens become one vector; not max."""
    skip_special: bool = False
    """Without [CLS] and [SEP]; ELMo never pools its own."""
    test_share: float = 0.2
    """Share of the texts to test on."""
    max_texts: int = 20_000
    """Use so many texts at most, chosen at random."""
    seed: int = 1
    """Seed of the split."""

    def __post_init__(self) -> None:
        if self.pool not in LINEAR_POOLS:
            raise InvalidArgumentError(
                f"pool is '{self.pool}': layers are weighed by one of {', '.join(LINEAR_POOLS)}"
            )
        if not 0 < self.test_share < 1:
            raise InvalidArgumentError(
                f"test_share is {self.test_share}: it must be above 0 and below 1"
            )
        for name, least in (("max_texts", 10), ("seed", 0)):
            if getattr(self, name) < least:
                raise InvalidArgumentError(
                    f"{name} is {getattr(self, name)}: it must be at least {least}"
                )
