"""CombinedClassifier: the settings of several classifiers that are combined by stacking."""

from dataclasses import dataclass, replace

from malmoi.arguments import described, expect, expect_integer
from malmoi.classify.base.settings import ClassifierSettings
from malmoi.errors import InvalidArgumentError


@dataclass(frozen=True, kw_only=True)
class CombinedClassifier(ClassifierSettings):
    """Several classifiers as one: their scores are weighted by a logistic regression.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    parts: tuple[ClassifierSettings, ...]
    """The settings of two classifiers or more, of any kind."""
    folds: int = 5
    """Folds that give held-out scores of texts; of many texts, a tenth is held out once."""

    def __post_init__(self) -> None:
        super().__post_init__()
        expect(self.parts, tuple | list, "parts", "the settings of classifiers")
        object.__setattr__(self, "parts", tuple(self.parts))
        for part in self.parts:
            if not isinstance(part, ClassifierSettings):
                raise InvalidArgumentError(
                    f"a part must be the settings of a classifier, not {described(part)}"
                )
        if len(self.parts) < 2:
            raise InvalidArgumentError(f"{len(self.parts)} parts: a combination needs two")
        expect_integer(self.folds, "folds")
        if self.folds < 2:
            raise InvalidArgumentError(f"folds is {self.folds}: it must be at least 2")

    @property
    def quantize(self) -> bool:
        """Whether a part is saved in 8 bits."""
        return any(getattr(part, "quantize", False) for part in self.parts)

    @property
    def fitted_parts(self) -> tuple[ClassifierSettings, ...]:
        """The parts as they are trained: with this seed, and on all texts.

        No text calibrates a part: its scores of held-out texts do.
        """
        return tuple(
            replace(part, seed=self.seed + number + part.seed - 1, calibrate=False)
            for number, part in enumerate(self.parts)
        )
