"""WordSettings: the settings that Word2Vec and FastText share."""

from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

from malmoi.arguments import check_numbers
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.threads import THREADS
from malmoi.text.encoded import VocabularySettings

Architecture = Literal["skip-gram", "cbow"]
Loss = Literal["negative-sampling", "hierarchical-softmax"]
MAX_WINDOW = 1000  # words
MAX_NEGATIVE_SAMPLES = 10_000
MAX_EPOCHS = 1_000_000
MAX_NS_EXPONENT = 10  # above it only the most frequent word would be sampled


@dataclass(frozen=True, kw_only=True)
class WordSettings:
    """How word vectors of `dim` numbers are trained.

    `skip-gram` predicts each context word from the target word, `cbow` the target word from the
    mean of its context: the words up to `window` away, or, with `shrink_windows`, up to a random
    distance below that, so that near words count more. With `loss="negative-sampling"` the
    model distinguishes each target from `negative_samples` words sampled by count **
    `ns_exponent`; with `"hierarchical-softmax"` it predicts the path of the target in a Huffman
    tree. Words whose share of the
    text exceeds `subsample` are skipped at random. The learning rate falls linearly to
    `min_learning_rate`. Words with fewer than `min_count` occurrences, or beyond the
    `max_vocab_size` most frequent, are ignored. With `threads=1` the same seed gives the same
    vectors, bit for bit.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    dim: int = 100
    """Dimensions of a vector."""
    architecture: Architecture = "skip-gram"
    """Predict context words from the target word, or the target from the mean of its context."""
    window: int = 5
    """Maximum distance between target and context word."""
    shrink_windows: bool = True
    """Draw each window's size from 1..window (dynamic windows)."""
    loss: Loss = "negative-sampling"
    """Training objective."""
    negative_samples: int = 5
    """Negative samples per target."""
    ns_exponent: float = 0.75
    """Sample negatives by count to this power; below 0 rare words are sampled more often."""
    subsample: float = 1e-3
    """Skip words at random whose share of the text is larger; 0 disables subsampling."""
    learning_rate: float = 0.05
    """Initial learning rate."""
    min_learning_rate: float = 1e-4
    """Learning rate at the end."""
    epochs: int = 5
    """Passes over the text."""
    min_count: int = 5
    """Ignore words with fewer occurrences."""
    max_vocab_size: int | None = None
    """Keep at most so many of the most frequent words."""
    seed: int = 1
    """Same seed, one thread: same vectors."""
    threads: int = THREADS
    """Worker threads; at most the number of processors."""

    def __post_init__(self) -> None:
        check_numbers(self)
        for name in ("dim", "window", "negative_samples", "epochs", "threads"):
            if getattr(self, name) < 1:
                raise InvalidArgumentError(
                    f"{name} is {getattr(self, name)}: it must be at least 1"
                )
        for name, limit in (
            ("window", MAX_WINDOW),
            ("negative_samples", MAX_NEGATIVE_SAMPLES),
            ("epochs", MAX_EPOCHS),
        ):
            if getattr(self, name) > limit:
                raise InvalidArgumentError(
                    f"{name} is {getattr(self, name)}: it must be at most {limit:,}"
                )
        for name, choices in (("architecture", Architecture), ("loss", Loss)):
            if getattr(self, name) not in get_args(choices):
                raise InvalidArgumentError(
                    f"{name} must be one of {', '.join(get_args(choices))};"
                    f" got '{getattr(self, name)}'"
                )
        for name in ("subsample", "min_learning_rate"):
            if not 0 <= getattr(self, name) < inf:
                raise InvalidArgumentError(
                    f"{name} is {getattr(self, name)}: it must be a number of at least 0"
                )
        if not self.min_learning_rate <= self.learning_rate < inf:
            raise InvalidArgumentError(
                f"learning_rate is {self.learning_rate}: it must be a number of at least"
                f" min_learning_rate, which is {self.min_learning_rate}"
            )
        if not abs(self.ns_exponent) <= MAX_NS_EXPONENT:
            raise InvalidArgumentError(
                f"ns_exponent is {self.ns_exponent}: it must be from {-MAX_NS_EXPONENT} to"
                f" {MAX_NS_EXPONENT}"
            )
        if not 0 <= self.seed < 2**64:
            raise InvalidArgumentError(f"seed is {self.seed}: it must be from 0 to 2**64 - 1")
        _ = self.vocabulary  # checks its own settings

    @property
    def vocabulary(self) -> VocabularySettings:
        """Which words of a text have vectors."""
        return VocabularySettings(min_count=self.min_count, max_vocab_size=self.max_vocab_size)
