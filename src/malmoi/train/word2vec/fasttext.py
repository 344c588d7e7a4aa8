"""FastText: words as the mean of their n-grams, so that words never seen have vectors too.

Bojanowski et al.: Enriching Word Vectors with Subword Information (2017); for Hangul by its
letters, Park et al.: Subword-level Word Vector Representations for Korean (2018). Only buckets
that n-grams of known words fall into have a row: nothing is answered from untrained ones.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from malmoi.keys import Keys
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.subwords import Subwords, SubwordVectors, Units
from malmoi.text.tokenizers import Tokenizer
from malmoi.train.common.inputs import Text, as_encoded
from malmoi.train.common.memory import Telling, unheard
from malmoi.train.word2vec.input_rows import InputRows, ngram_rows
from malmoi.train.word2vec.network import TrainOptions, train_network
from malmoi.train.word2vec.settings import WordSettings
from malmoi.train.word2vec.trainer import Told
from malmoi.vectors import Vectors


@dataclass(frozen=True, kw_only=True)
class FastText(WordSettings):
    """As for Word2Vec, and how words are cut into n-grams.

    n-grams are `shortest` to `longest` characters long and share `buckets`. `units` says what a
    character of Hangul is: `letters` (as in fastText: a syllable), `syllables` (n-grams of
    `syllables` of them), `jamo` (its letters) or `jamo+syllables`.
    """

    shortest: int = 3
    """Characters in an n-gram, at least."""
    longest: int = 6
    """And at most; 0: no n-grams."""
    buckets: int = 2_000_000
    """That n-grams share; only those used take memory."""
    units: Units = "letters"
    """What a character of Hangul is: a syllable, as in fastText, or its jamo."""
    syllables: tuple[int, int] = (1, 4)
    """How long n-grams of syllables are."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.subwords  # it checks what is its own

    @property
    def subwords(self) -> Subwords:
        """How words are cut."""
        return Subwords(
            shortest=self.shortest,
            longest=self.longest,
            buckets=self.buckets,
            units=self.units,
            syllables=self.syllables,
        )


def train_fasttext(
    text: Text,
    settings: FastText | None = None,
    *,
    tokenizer: Tokenizer | str | None = None,
    start: Vectors | None = None,
    frozen: bool = False,
    update: bool = False,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    progress: Progress = no_progress,
    on_loss: Told = lambda loss: None,
    tell_memory: Telling = unheard,
) -> SubwordVectors:
    """Vectors of the words of a text that also answer words never seen; see `train_word2vec`."""
    settings = settings or FastText()
    given = TrainOptions(
        start=start,
        frozen=frozen,
        update=update,
        checkpoint=checkpoint,
        resume=resume,
        progress=progress,
        on_loss=on_loss,
        tell_memory=tell_memory,
    )

    def rows_of(keys: Keys) -> InputRows:
        return ngram_rows(keys, settings.subwords)

    corpus = as_encoded(text, settings.choice, tokenizer)
    trained = train_network(corpus, settings, rows_of, given)
    vocabulary, inputs = trained.corpus.vocabulary, trained.inputs
    matrix = trained.rows.means(inputs)
    if start is not None and trained.frozen.any():  # n-grams move with the words that share them
        keys = vocabulary.words.take(trained.frozen.nonzero()[0])
        matrix[trained.frozen] = start.matrix[start.keys.find_all(keys)]
    return SubwordVectors(
        vocabulary.words,
        matrix,
        vocabulary.counts,
        trained.meta | {"fasttext": json.dumps(original_settings(settings))},
        trained.output,
        own=inputs[: len(vocabulary)],
        ngrams=inputs[len(vocabulary) :],
        subwords=settings.subwords,
        kept=trained.rows.used,
    )


def original_settings(settings: FastText) -> dict[str, float]:
    """What fastText's own file says of a training."""
    return {
        "ws": settings.window,
        "epoch": settings.epochs,
        "minCount": settings.min_count,
        "neg": settings.negatives,
        "loss": 1 if settings.softmax == "hierarchical" else 2,
        "model": 1 if settings.architecture == "cbow" else 2,
        "t": settings.subsample,
    }
