"""EncoderClassifier: the settings of a classifier on the frozen vectors of an encoder."""

from dataclasses import dataclass
from typing import Literal, get_args

from malmoi.arguments import check_numbers, expect
from malmoi.classify.base.settings import ClassifierSettings
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.suites.logistic_regression import MAX_ITERATIONS

HeadKind = Literal["linear", "mlp"]


@dataclass(frozen=True, kw_only=True)
class EncoderClassifier(ClassifierSettings):
    """A logistic regression, or a small network, on the frozen vectors of an encoder.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    model: str
    """An encoder: any name or path that `load_encoder` takes, such as minilm, use or a+b."""
    head: HeadKind = "linear"
    """Logistic regression, or one hidden layer."""
    hidden: int = 128
    """Size of the hidden layer of mlp."""
    penalty: float | None = None
    """L2 penalty on weights of standardized vectors; by default chosen on held-out texts."""
    max_iterations: int = MAX_ITERATIONS
    """Most iterations of L-BFGS, of linear."""
    cache: bool = True
    """Keep the vectors of texts in the cache folder."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self)
        expect(self.model, str, "model", "the name or path of an encoder")
        if not self.model:
            raise InvalidArgumentError("model is empty: name an encoder such as minilm or use")
        if self.head not in get_args(HeadKind):
            raise InvalidArgumentError(
                f"head is '{self.head}': choose one of {', '.join(get_args(HeadKind))}"
            )
        for name in ("hidden", "max_iterations"):
            if getattr(self, name) < 1:
                raise InvalidArgumentError(f"{name} is {getattr(self, name)}: it must be 1 or more")
        if self.penalty is not None and not 0 <= self.penalty < float("inf"):
            raise InvalidArgumentError(f"penalty is {self.penalty}: it must be 0 or more")
