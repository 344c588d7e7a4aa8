"""PretrainedElmo: the weights that a pretraining has learned, and how well they predict words."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from malmoi.arrays import Float32Array
from malmoi.tune.elmo.ngram_baseline import NgramPerplexity
from malmoi.tune.elmo.settings import Elmo
from malmoi.vocabulary import Vocabulary


class Perplexities(NamedTuple):
    """The perplexity of the held-out sentences in each direction."""

    forward: float
    backward: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PretrainedElmo:
    """A pretrained model, as `save_elmo` writes it.

    Attributes:
        weights: The arrays of `weights.hdf5` by name.
        softmax: One row per word of the vocabulary, [words, dim + 1]; the last number is its bias.
        words: The vocabulary of the softmax, with the counts in the training text.
        tokenizer: The description of the tokenizer, as JSON.
        settings: The settings of the pretraining.
        perplexity: Of the held-out sentences, over the whole vocabulary.
        ngrams: The same by Kneser–Ney models of the same text; None if not asked for.
        predicted: Words and sentence ends in the held-out sentences.
        trained: Words and sentence ends that each direction was trained on, repetitions included.
        steps: The number of steps.
        best_step: The step that the weights are from.
        seconds: How long the training took.
        stopped: Why it ended before the last epoch; empty if it did not.
        history: The step and the perplexity, the mean of both directions, of each evaluation.
    """

    weights: dict[str, Float32Array]
    softmax: Float32Array
    words: Vocabulary
    tokenizer: str
    settings: Elmo
    perplexity: Perplexities
    ngrams: NgramPerplexity | None
    predicted: int
    trained: int
    steps: int
    best_step: int
    seconds: float
    stopped: str
    history: tuple[tuple[int, float], ...] = ()

    @property
    def words_per_second(self) -> float:
        """Words that were trained on per second, evaluations included."""
        return self.trained / self.seconds if self.seconds else 0.0

    @property
    def sentence(self) -> str:
        """The perplexities in one line, beside those of the n-gram models."""
        forward, backward = self.perplexity
        line = f"held-out perplexity {forward:.1f} forward, {backward:.1f} backward"
        if self.ngrams is None:
            return line
        return (
            f"{line}; Kneser–Ney bigram {self.ngrams.bigram:.1f}, trigram {self.ngrams.trigram:.1f}"
        )

    @property
    def facts(self) -> dict[str, Any]:
        """Settings and results, for JSON."""
        ngrams = {} if self.ngrams is None else {"kneser_ney": asdict(self.ngrams)}
        return {
            "perplexity": self.perplexity._asdict(),
            **ngrams,
            "held_out_words": self.predicted,
            "words": self.trained,
            "words_per_second": round(self.words_per_second),
            "steps": self.steps,
            "best_step": self.best_step,
            "minutes": round(self.seconds / 60, 2),
            "stopped": self.stopped,
            "history": [list(each) for each in self.history],
            "settings": asdict(self.settings),
        }

    def __repr__(self) -> str:
        shape = f"{self.settings.layers} × {2 * self.settings.dim}"
        return f"PretrainedElmo({shape}, {len(self.words):,} words, {self.sentence})"
