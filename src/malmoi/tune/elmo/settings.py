"""Elmo: the network of an ELMo model and its pretraining. Does not import torch."""

from dataclasses import dataclass

from malmoi.arguments import check_numbers
from malmoi.errors import InvalidArgumentError
from malmoi.text.character_ids import CHARACTER_UNITS, CharacterUnits
from malmoi.train.common.loop_settings import LoopSettings

Filters = tuple[tuple[int, int], ...]  # (width in characters, number of filters)

MAX_CHARACTERS = 50  # of a word with its begin and end, as in the original
CHARACTER_DIM = 16  # numbers per character


@dataclass(frozen=True, kw_only=True)
class Elmo(LoopSettings):
    """The network of an ELMo model, and how it is pretrained.

    A CNN reads the characters of each word; two LSTMs per layer read the words, one forward and
    one backward, and predict the next word. Both directions share the CNN and the softmax. With
    `threads=1` the same seed gives the same model, bit for bit, unless `minutes` ends the run.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    characters: CharacterUnits = "bytes"
    """Characters of a word: bytes, or jamo for Korean."""
    dim: int = 192
    """Units of each LSTM; a layer has twice as many."""
    layers: int = 2
    """LSTM layers."""
    filters: Filters = ((1, 32), (2, 32), (3, 64), (4, 128))
    """Filters of the CNN: width in characters, number."""
    max_vocab_size: int = 50_000
    """Words that the softmax predicts; others are unknown."""
    min_count: int = 2
    """Words with fewer occurrences are unknown, too."""
    max_length: int = 64
    """Longer lines are cut, after a full stop if possible."""
    negative_samples: int = 1024
    """Words sampled per batch, besides its own words."""
    lsa: bool = True
    """Start the softmax from LSA vectors of the words."""
    dropout: float = 0.0
    """Share of units dropped while training."""
    held_out: float = 0.005
    """Share of the lines kept aside for the perplexity."""
    ngrams: bool = True
    """Compare with Kneser–Ney n-gram models of the text."""
    eval_minutes: float = 5.0
    """Minutes between perplexities."""
    eval_steps: int | None = None
    """Steps between perplexities, instead of minutes."""
    epochs: int = 10
    """Passes over the text."""
    batch_size: int = 3072
    """Words per step."""
    learning_rate: float = 0.006
    """Peak learning rate of Adam."""
    warmup: float = 0.02
    """Share of the training in which the rate rises."""

    def __post_init__(self) -> None:
        check_numbers(self)
        super().__post_init__()
        if self.characters not in CHARACTER_UNITS:
            known = ", ".join(CHARACTER_UNITS)
            raise InvalidArgumentError(f"characters is '{self.characters}': choose one of {known}")
        for name in ("dim", "layers", "max_vocab_size", "min_count", "negative_samples"):
            self.check_at_least(name, 1)
        self.check_at_least("max_length", 2)
        self.check_positive("held_out", "eval_minutes")
        self.check_share("dropout", "held_out")
        if not self.filters:
            raise InvalidArgumentError("filters is empty: give (width, number) of one or more")
        for width, number in self.filters:
            if not (1 <= width <= MAX_CHARACTERS and number >= 1):
                raise InvalidArgumentError(
                    f"filters has ({width}, {number}): the width must be 1 to {MAX_CHARACTERS}"
                    " characters, and the number at least 1"
                )

    @property
    def widest_filter(self) -> int:
        """The width of the widest filter, in characters."""
        return max(width for width, _ in self.filters)
