"""MiningSettings: which texts near a query are its hard negatives."""

from dataclasses import dataclass
from math import isfinite
from typing import Literal, get_args

from malmoi.arguments import check_numbers
from malmoi.errors import InvalidArgumentError

Sampling = Literal["top", "random"]
SPARE_FACTOR = 10  # candidates per negative, where some will be skipped


@dataclass(frozen=True, kw_only=True)
class MiningSettings:
    """How hard negatives are chosen.

    The candidates of a query are the `range_max` texts nearest to it. Its positives and all
    candidates that a setting excludes are skipped; of the others, those after the first
    `range_min` are negatives. The same settings choose the same negatives as
    `mine_hard_negatives` of sentence-transformers, apart from `near_duplicates`.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    negatives: int = 3
    """Negatives per pair."""
    range_min: int = 0
    """Skip so many of the nearest texts that qualify."""
    range_max: int | None = None
    """Search so many texts; by default ten per negative."""
    relative_margin: float | None = 0.05
    """Score at most the positive's less this share."""
    absolute_margin: float | None = None
    """Score at most the positive's less this."""
    max_score: float | None = None
    """Highest score of a negative."""
    min_score: float | None = None
    """Lowest score of a negative."""
    sampling: Sampling = "top"
    """Take the nearest, or draw at random."""
    near_duplicates: float | None = 0.9
    """Skip texts that share so many character trigrams."""
    columns: tuple[str, ...] = ()
    """Columns of the query and its positive: A,B."""
    seed: int = 1
    """Seed of random sampling."""

    def __post_init__(self) -> None:
        check_numbers(self)
        if self.sampling not in get_args(Sampling):
            raise InvalidArgumentError(f"sampling is '{self.sampling}': choose top or random")
        for name, least in (("negatives", 1), ("range_min", 0), ("seed", 0)):
            if getattr(self, name) < least:
                raise InvalidArgumentError(
                    f"{name} is {getattr(self, name)}: it must be at least {least}"
                )
        for name in ("relative_margin", "absolute_margin", "max_score", "min_score"):
            value = getattr(self, name)
            if value is not None and not isfinite(value):
                raise InvalidArgumentError(f"{name} is {value}: it must be a finite number")
        if self.near_duplicates is not None and not 0 < self.near_duplicates <= 1:
            raise InvalidArgumentError(
                f"near_duplicates is {self.near_duplicates}: it must be above 0 and at most 1"
            )
        if self.range_max is not None and self.range_max - self.range_min < self.negatives:
            raise InvalidArgumentError(
                f"range_min is {self.range_min} and range_max is {self.range_max}: they must be at"
                f" least {self.negatives} apart, the number of negatives"
            )

    @property
    def is_selective(self) -> bool:
        """Whether a margin or a highest score may exclude candidates."""
        limits = (self.relative_margin, self.absolute_margin, self.max_score)
        return any(limit is not None for limit in limits)

    def candidates(self, positives: int) -> int:
        """The `range_max` in use, where a query has at most so many positives."""
        if self.range_max is not None:
            return self.range_max
        factor = SPARE_FACTOR if self.is_selective else 1
        return self.range_min + factor * self.negatives + positives
