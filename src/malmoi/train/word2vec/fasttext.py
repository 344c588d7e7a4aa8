"""FastText: words as the mean of their n-grams, so that unseen words have vectors too.

Bojanowski et al.: Enriching Word Vectors with Subword Information (2017); for Hangul by its
jamo, Park et al.: Subword-level Word Vector Representations for Korean (2018). Only buckets of
n-grams that occur in known words have a row: an untrained row never contributes to a vector.
"""

import json
from dataclasses import dataclass

import numpy as np

from malmoi.arguments import settings_or_default
from malmoi.keys import Keys
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.subwords import Subwords, SubwordVectors, Units
from malmoi.text.tokenizers import Tokenizer
from malmoi.train.common.inputs import TextInput, encode_text
from malmoi.train.common.options import DEFAULT_OPTIONS, TrainOptions, expect_options
from malmoi.train.word2vec.input_rows import InputRows, ngram_input_rows
from malmoi.train.word2vec.network import TrainedNetwork, train_network
from malmoi.train.word2vec.settings import WordSettings


@dataclass(frozen=True, kw_only=True)
class FastText(WordSettings):
    """How FastText is trained: as Word2Vec, with n-grams of `min_n` to `max_n` characters.

    The n-grams are hashed into `buckets`. `units` is what a character of Hangul is: `characters`
    (a syllable block, as in fastText), `syllables` (n-grams of `syllables` blocks), `jamo` (its
    letters) or `jamo+syllables`. `Word2Vec` describes the other settings.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    min_n: int = 3
    """Shortest n-gram in characters."""
    max_n: int = 6
    """Longest n-gram in characters; 0 disables subwords."""
    buckets: int = 2_000_000
    """Hash buckets for n-grams; only used ones are allocated."""
    units: Units = "characters"
    """What a character of Hangul is: a syllable block, as in fastText, or a jamo."""
    syllables: tuple[int, int] = (1, 4)
    """Shortest and longest n-gram of syllable blocks."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.subwords  # checks its own settings

    @property
    def subwords(self) -> Subwords:
        """How words are split into n-grams."""
        return Subwords(
            min_n=self.min_n,
            max_n=self.max_n,
            buckets=self.buckets,
            units=self.units,
            syllables=self.syllables,
        )


def train_fasttext(
    text: TextInput,
    settings: FastText | None = None,
    *,
    tokenizer: Tokenizer | str | None = None,
    options: TrainOptions = DEFAULT_OPTIONS,
    reporter: Reporter = DEFAULT_REPORTER,
) -> SubwordVectors:
    """Train word vectors with subwords on a text; unseen words get vectors from their n-grams.

    Args:
        text: Path of a file or folder; documents as strings or as lists of tokens, in a list, a
            generator, a Series or an array; a `Corpus` or an `EncodedCorpus`.
        settings: How to train; the defaults of `FastText` if not given.
        tokenizer: A tokenizer or its name, such as "korean"; splits at white space if not given.
            An `EncodedCorpus` has its tokens already.
        options: Initial vectors, checkpoints to resume from, and a callback per epoch.
        reporter: Receives progress in words, the mean loss per training pair, the memory needed,
            and warnings.

    Returns:
        One vector per word, most frequent words first, with the rows of words and n-grams.

    Raises:
        InvalidArgumentError: The settings do not fit the text, the initial vectors or the memory,
            or the training diverges.
        InvalidFileError: The text or the checkpoint cannot be read.
    """
    expect_reporter(reporter)
    expect_options(options)
    settings = settings_or_default(settings, FastText)

    def input_rows(keys: Keys) -> InputRows:
        return ngram_input_rows(keys, settings.subwords)

    def make_vectors(trained: TrainedNetwork) -> SubwordVectors:
        vocabulary, inputs = trained.corpus.vocabulary, trained.inputs
        matrix = trained.rows.means(inputs)
        init, frozen = options.init_vectors, trained.frozen
        if init is not None and frozen.any():  # n-grams move with the words that share them
            keys = vocabulary.words.take(frozen.nonzero()[0])
            matrix[frozen] = init.matrix[init.keys.find_all(keys)]
        args = json.dumps(fasttext_args(settings), default=np.generic.item)
        return SubwordVectors(
            vocabulary.words,
            matrix,
            vocabulary.counts,
            trained.metadata | {"fasttext": args},
            trained.context_matrix,
            word_rows=inputs[: len(vocabulary)],
            bucket_rows=inputs[len(vocabulary) :],
            subwords=settings.subwords,
            kept_buckets=trained.rows.used_buckets,
        )

    corpus = encode_text(text, settings.vocabulary, tokenizer, reporter)
    return train_network(corpus, settings, input_rows, options, reporter, make_vectors)


def fasttext_args(settings: FastText) -> dict[str, float]:
    """The settings as fastText's own file stores them."""
    return {
        "ws": settings.window,
        "epoch": settings.epochs,
        "minCount": settings.min_count,
        "neg": settings.negative_samples,
        "loss": 1 if settings.loss == "hierarchical-softmax" else 2,
        "model": 1 if settings.architecture == "cbow" else 2,
        "t": settings.subsample,
    }
