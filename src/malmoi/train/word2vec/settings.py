"""What Word2Vec and FastText are told alike."""

from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

from malmoi.errors import InvalidArgumentError
from malmoi.kernels.threads import THREADS
from malmoi.text.encoded import VocabularySettings

Architecture = Literal["skip-gram", "cbow"]
Softmax = Literal["negatives", "hierarchical"]
FARTHEST = 1000  # words
MOST_NEGATIVES = 10_000
MOST_EPOCHS = 1_000_000
STEEPEST = 10  # of a count: what is above would leave nothing but the most frequent word


@dataclass(frozen=True, kw_only=True)
class WordSettings:
    """How words become vectors of `dim` numbers.

    `skip-gram` foretells a word from each word around it, `cbow` from their mean; around is up
    to `window` words away, or, `shrinking`, a random part of that, so that near ones count more.
    The word is told from `negatives` others, drawn by their counts to the `power`, or by its path
    in a Huffman tree (`hierarchical`). A word more frequent than `subsample` of all is left out
    now and then. The learning rate falls to `final_rate` evenly. Words seen fewer than
    `min_count` times, or beyond the `size` most frequent, are as if they were not there. The
    same seed gives the same vectors, bit for bit, on one of `threads`.
    """

    dim: int = 100
    """Numbers in a vector."""
    architecture: Architecture = "skip-gram"
    """Foretell a word from each word around it, or from their mean."""
    window: int = 5
    """How many words away is still around."""
    shrinking: bool = True
    """Windows end anywhere up to there: near words count more."""
    softmax: Softmax = "negatives"
    """How a word is told from all others."""
    negatives: int = 5
    """How many other words each word is told from."""
    power: float = 0.75
    """These are drawn by their counts to this power."""
    subsample: float = 1e-3
    """Words with a larger share of the text are left out now and then; 0: never."""
    learning_rate: float = 0.05
    """At the beginning."""
    final_rate: float = 1e-4
    """The learning rate at the end."""
    epochs: int = 5
    """How often the text is learnt."""
    min_count: int = 5
    """Only words seen so often."""
    size: int | None = None
    """Only so many of the most frequent words."""
    seed: int = 1
    """Same seed, one thread: same vectors."""
    threads: int = THREADS
    """How many work at once; at most as many as there are processors."""

    def __post_init__(self) -> None:
        for name in ("dim", "window", "negatives", "epochs", "threads"):
            if getattr(self, name) < 1:
                raise InvalidArgumentError(f"{name} is {getattr(self, name)}: it is at least 1")
        if self.window > FARTHEST:
            raise InvalidArgumentError(
                f"window is {self.window}: it reaches at most {FARTHEST:,} words far"
            )
        for name, most in (("negatives", MOST_NEGATIVES), ("epochs", MOST_EPOCHS)):
            if getattr(self, name) > most:
                raise InvalidArgumentError(
                    f"{name} is {getattr(self, name)}: it is at most {most:,}"
                )
        if self.architecture not in get_args(Architecture):
            raise InvalidArgumentError(
                f"'{self.architecture}' is no architecture: choose skip-gram or cbow"
            )
        if self.softmax not in get_args(Softmax):
            raise InvalidArgumentError(
                f"'{self.softmax}' is no softmax: choose negatives or hierarchical"
            )
        for name in ("power", "subsample", "final_rate"):
            if not 0 <= getattr(self, name) < inf:
                raise InvalidArgumentError(
                    f"{name} is {getattr(self, name)}: give a number, 0 or above"
                )
        if not self.final_rate <= self.learning_rate < inf:
            raise InvalidArgumentError(
                f"learning_rate is {self.learning_rate}: give a number not below final_rate,"
                f" which is {self.final_rate}"
            )
        if self.power > STEEPEST:
            raise InvalidArgumentError(f"power is {self.power}: it is at most {STEEPEST}")
        if not 0 <= self.seed < 2**64:
            raise InvalidArgumentError(
                f"seed is {self.seed}: it is at least 0 and below 2 to the 64th"
            )
        _ = self.choice  # it checks what is its own

    @property
    def choice(self) -> VocabularySettings:
        """Which words are taken from text."""
        return VocabularySettings(min_count=self.min_count, size=self.size)
