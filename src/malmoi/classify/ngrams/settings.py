"""NgramClassifier: the settings of a linear classifier on hashed n-grams."""

from dataclasses import dataclass
from math import inf
from typing import Literal

from malmoi.classify.base.settings import ClassifierSettings
from malmoi.classify.ngrams.features import Ngrams
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.threads import THREADS

Optimizer = Literal["sgd", "adagrad"]
LabelLoss = Literal["softmax", "one_versus_rest"]
MIN_EPOCHS, MAX_EPOCHS = 3, 30
EPOCH_TEXTS = 100_000  # texts that a training sees at least, if that needs few epochs


@dataclass(frozen=True, kw_only=True)
class NgramClassifier(ClassifierSettings):
    """A linear classifier on hashed n-grams, weighted by naive Bayes.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    min_n: int = 1
    """Shortest n-gram of characters."""
    max_n: int = 4
    """Longest n-gram of characters; 0 for none."""
    words: int = 0
    """Longest n-gram of words; 0 for none."""
    jamo: int = 0
    """Longest n-gram of jamo, from three; 0 for none."""
    bits: int = 24
    """N-grams are hashed into 2^bits buckets."""
    min_count: int = 2
    """Texts that an n-gram must occur in."""
    alpha: float = 1.0
    """Smoothing of the naive Bayes counts."""
    epochs: int | None = None
    """Passes over the texts; by default from 3, more if they are few."""
    learning_rate: float | None = None
    """Falls to 0; by default 1, for AdaGrad 0.2."""
    optimizer: Optimizer = "sgd"
    """Steps of equal rate, or AdaGrad."""
    loss: LabelLoss = "softmax"
    """Of more than two classes: together, or each one by itself."""
    balanced: bool = False
    """Give classes with few texts a larger weight."""
    quantize: bool = False
    """Save weights in 8 bits."""
    threads: int = THREADS
    """Number of threads."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.ngrams  # checks its own settings
        for name in ("min_count", "epochs", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidArgumentError(f"{name} is {value}: it must be at least 1")
        for name in ("alpha", "learning_rate"):
            value = getattr(self, name)
            if value is not None and not 0 < value < inf:
                raise InvalidArgumentError(f"{name} is {value}: it must be a number above 0")

    @property
    def ngrams(self) -> Ngrams:
        """The n-grams of a text."""
        return Ngrams(
            min_n=self.min_n, max_n=self.max_n, words=self.words, jamo=self.jamo, bits=self.bits
        )

    @property
    def rate(self) -> float:
        """The learning rate at the beginning."""
        if self.learning_rate is not None:
            return self.learning_rate
        return 1.0 if self.optimizer == "sgd" else 0.2

    def epochs_for(self, texts: int) -> int:
        """The number of epochs for so many texts."""
        if self.epochs is not None:
            return self.epochs
        return max(MIN_EPOCHS, min(MAX_EPOCHS, -(-EPOCH_TEXTS // max(texts, 1))))
