"""ClassifierSettings: what the training of every kind of classifier takes."""

from dataclasses import dataclass

from malmoi.errors import InvalidArgumentError


@dataclass(frozen=True, kw_only=True)
class ClassifierSettings:
    """What the training of every kind of classifier takes.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    columns: tuple[str, ...] = ()
    """Columns of the text and of the label."""
    label_separator: str = ""
    """Separates several labels of one text, such as , or |."""
    test_share: float = 0.1
    """Share of the texts to test on; 0 trains on all."""
    keep_duplicates: bool = False
    """Also test on texts that are trained on."""
    calibrate: bool = True
    """Scale probabilities on 5 % of the training texts, which are held out."""
    seed: int = 1
    """Same seed, one thread: same model."""

    def __post_init__(self) -> None:
        if not 0 <= self.test_share < 1:
            raise InvalidArgumentError(
                f"test_share is {self.test_share}: it must be at least 0 and below 1"
            )
        if self.seed < 0:
            raise InvalidArgumentError(f"seed is {self.seed}: it must be at least 0")
