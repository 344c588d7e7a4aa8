"""ReindexSettings: how the vectors of a new model get into an index."""

from dataclasses import dataclass

from malmoi.arguments import check_numbers
from malmoi.errors import InvalidArgumentError


@dataclass(frozen=True, kw_only=True)
class ReindexSettings:
    """How an index changes its model.

    By default the new model embeds all texts. With `translate` it embeds a sample, and a linear
    map fitted on the sample translates the old vectors.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    translate: bool = False
    """Embed a sample only, and translate the old vectors by a linear map."""
    sample: float = 0.02
    """Share of the texts in the sample."""
    min_texts: int = 300
    """Texts in the sample at least."""
    min_recall: float = 0.9
    """Translate only if the map keeps this share of the ten nearest texts."""
    seed: int = 1
    """Seed of the sample."""

    def __post_init__(self) -> None:
        check_numbers(self)
        if not 0 < self.sample <= 1:
            raise InvalidArgumentError(f"sample is {self.sample}: it must be above 0 and at most 1")
        if self.min_texts < 1:
            raise InvalidArgumentError(f"min_texts is {self.min_texts}: it must be at least 1")
        if not 0 <= self.min_recall <= 1:
            raise InvalidArgumentError(f"min_recall is {self.min_recall}: it must be from 0 to 1")
        if self.seed < 0:
            raise InvalidArgumentError(f"seed is {self.seed}: it must be at least 0")
