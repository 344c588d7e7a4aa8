"""N-gram language models: settings and training."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from malmoi.arguments import check_numbers, settings_or_default
from malmoi.errors import InvalidArgumentError
from malmoi.models.ngram_counts import NgramCounts
from malmoi.models.ngram_model import NgramModel
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.text.tokenizers import Tokenizer
from malmoi.train.common.inputs import TextInput, encode_text
from malmoi.train.language.kneser_ney import kneser_ney
from malmoi.train.language.sentence_counts import check_counting, count_corpus_ngrams
from malmoi.train.language.smoothing import add_k, interpolated, unsmoothed

Smoothing = Literal["none", "add-k", "interpolated", "kneser-ney"]


@dataclass(frozen=True, kw_only=True)
class NGram:
    """The settings of an n-gram model.

    `smoothing`: `none` (relative frequencies), `add-k` (every count `k` higher),
    `interpolated` (frequencies of all orders mixed by `weights`, unigrams first; equal weights by
    default) or `kneser-ney` (modified, interpolated). Words with fewer than `min_count`
    occurrences become `<unk>`.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    order: int = 3
    """Words in the longest n-gram."""
    smoothing: Smoothing = "kneser-ney"
    """How probability is reserved for unseen n-grams."""
    k: float = 1.0
    """Add-k: the number added to every count."""
    weights: tuple[float, ...] = ()
    """Interpolated: one weight per order, unigrams first."""
    min_count: int = 1
    """Words with fewer occurrences become `<unk>`."""

    def __post_init__(self) -> None:
        check_numbers(self)
        check_counting(self.order, self.min_count)
        if self.smoothing not in get_args(Smoothing):
            choices = ", ".join(get_args(Smoothing))
            raise InvalidArgumentError(
                f"smoothing must be one of {choices}; got '{self.smoothing}'"
            )
        if not 0 < self.k < math.inf:
            raise InvalidArgumentError(
                f"k is {self.k}: it must be above 0, or use smoothing='none'"
            )
        if self.weights:
            self._check_weights()

    def _check_weights(self) -> None:
        if self.smoothing != "interpolated":
            raise InvalidArgumentError(
                f"weights are for interpolated models, not for '{self.smoothing}'"
            )
        if len(self.weights) != self.order:
            raise InvalidArgumentError(
                f"{len(self.weights)} weights for order {self.order}: give one per order"
            )
        if not all(weight > 0 for weight in self.weights):
            raise InvalidArgumentError(f"the weights are {self.weights}: each must be above 0")
        if not math.isclose(sum(self.weights), 1, abs_tol=1e-6):
            raise InvalidArgumentError(
                f"the weights sum to {sum(self.weights):g}: make them sum to 1"
            )


def train_ngram(
    text: TextInput,
    settings: NGram | None = None,
    *,
    tokenizer: Tokenizer | str | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> NgramModel:
    """Train an n-gram language model on a text.

    Args:
        text: Path of a file or folder; sentences as strings or as lists of tokens without `<s>`
            and `</s>`, in a list, a generator, a Series or an array; a `Corpus` or an
            `EncodedCorpus`. A line is a sentence.
        settings: Order and smoothing; the defaults of `NGram` if not given.
        tokenizer: A tokenizer or its name, such as "korean"; splits at white space if not given.
        reporter: Receives progress in orders, and warnings.

    Returns:
        The model.

    Raises:
        InvalidArgumentError: The text has no words, or none that is frequent enough.
        InvalidFileError: The text cannot be read.
    """
    expect_reporter(reporter)
    settings = settings_or_default(settings, NGram)
    corpus = encode_text(text, None, tokenizer, reporter)
    progress, steps = reporter.stage("counting n-grams"), settings.order + 1
    counts = count_corpus_ngrams(
        corpus,
        settings.order,
        min_count=settings.min_count,
        progress=lambda done, _: progress(done, steps),
    )
    model = estimate(counts, settings, reporter)
    progress(steps, steps)
    return model


def estimate(counts: NgramCounts, settings: NGram, reporter: Reporter) -> NgramModel:
    """Estimate the probabilities from counts by the chosen smoothing."""
    if settings.smoothing == "none":
        return unsmoothed(counts)
    if settings.smoothing == "add-k":
        return add_k(counts, settings.k)
    if settings.smoothing == "interpolated":
        return interpolated(counts, settings.weights or [1 / counts.order] * counts.order)
    return kneser_ney(counts, reporter)
