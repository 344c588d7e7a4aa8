"""GloVe: the settings of the training."""

from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

from malmoi.arguments import check_numbers
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.threads import THREADS
from malmoi.text.encoded import VocabularySettings
from malmoi.train.counts.cooccurrence import Cooccurrence
from malmoi.train.glove.tables import VectorKind

Logarithm = Literal["x", "1+x"]
MAX_ITERATIONS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class GloVe:
    """How GloVe vectors of `dim` numbers are trained.

    Words within `window` of each other co-occur, with weight 1 / distance. A pair has the weight
    min(1, (x / `x_max`) ** `alpha`) in the loss; for small corpora an `x_max` of 10 is often
    better. The `logarithm` may be that of `1+x`, so that rare pairs are not below 0. The result
    is the `sum` of word and context vector, the `word` or the `context` vector, or `both`
    concatenated. `window`, `min_count`, `max_vocab_size` and `memory_mb` are for counting, if the
    input is text. With `threads=1` the same seed gives the same vectors, bit for bit.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    dim: int = 100
    """Dimensions of a vector."""
    window: int = 10
    """Maximum distance between word and context."""
    min_count: int = 5
    """Ignore words with fewer occurrences."""
    max_vocab_size: int | None = None
    """Keep at most so many of the most frequent words."""
    x_max: float = 100.0
    """Co-occurrence from which on a pair has full weight; 10 is often better for small corpora."""
    alpha: float = 0.75
    """Exponent of the weight below x_max."""
    learning_rate: float = 0.05
    """Learning rate of AdaGrad."""
    iterations: int = 25
    """Passes over all pairs."""
    vectors: VectorKind = "sum"
    """Word vectors, context vectors, their sum, or both concatenated."""
    logarithm: Logarithm = "x"
    """Fit the logarithm of x or of 1+x."""
    memory_mb: float = 2048
    """Memory for counting, in megabytes."""
    seed: int = 1
    """Same seed, one thread: same vectors."""
    threads: int = THREADS
    """Worker threads."""

    def __post_init__(self) -> None:
        check_numbers(self)
        for name in ("dim", "iterations", "threads"):
            if getattr(self, name) < 1:
                raise InvalidArgumentError(
                    f"{name} is {getattr(self, name)}: it must be at least 1"
                )
        if self.iterations > MAX_ITERATIONS:
            raise InvalidArgumentError(
                f"iterations is {self.iterations}: it must be at most {MAX_ITERATIONS:,}"
            )
        for name in ("x_max", "learning_rate"):
            if not 0 < getattr(self, name) < inf:
                raise InvalidArgumentError(
                    f"{name} is {getattr(self, name)}: it must be a number above 0"
                )
        if not 0 <= self.alpha < inf:
            raise InvalidArgumentError(f"alpha is {self.alpha}: it must be a number of at least 0")
        for name, choices in (("vectors", VectorKind), ("logarithm", Logarithm)):
            if getattr(self, name) not in get_args(choices):
                raise InvalidArgumentError(
                    f"{name} must be one of {', '.join(get_args(choices))};"
                    f" got '{getattr(self, name)}'"
                )
        if self.seed < 0:
            raise InvalidArgumentError(f"seed is {self.seed}: it must be at least 0")
        _ = self.counting, self.vocabulary  # check their own settings

    @property
    def counting(self) -> Cooccurrence:
        """How co-occurrences are counted."""
        return Cooccurrence(window=self.window, memory_mb=self.memory_mb)

    @property
    def vocabulary(self) -> VocabularySettings:
        """Which words of a text have vectors."""
        return VocabularySettings(min_count=self.min_count, max_vocab_size=self.max_vocab_size)
