"""Word2Vec: word vectors that predict the words around them.

Mikolov et al.: Efficient Estimation of Word Representations in Vector Space; Distributed
Representations of Words and Phrases and their Compositionality (both 2013). The pairs of a window
share its negative samples: as good, and one small matrix product instead of many dot products.
"""

from dataclasses import dataclass

from malmoi.arguments import settings_or_default
from malmoi.keys import Keys
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.text.tokenizers import Tokenizer
from malmoi.train.common.inputs import TextInput, encode_text
from malmoi.train.common.options import DEFAULT_OPTIONS, TrainOptions, expect_options
from malmoi.train.word2vec.input_rows import InputRows, word_input_rows
from malmoi.train.word2vec.network import TrainedNetwork, train_network
from malmoi.train.word2vec.settings import WordSettings
from malmoi.vectors import Vectors


@dataclass(frozen=True, kw_only=True)
class Word2Vec(WordSettings):
    """How Word2Vec vectors of `dim` numbers are trained.

    `architecture` is "skip-gram", which predicts each context word from the target word, or
    "cbow", which predicts the target word from the mean of its context: the words up to `window`
    away, or, with `shrink_windows`, up to a random distance below that. `loss` is
    "negative-sampling", with `negative_samples` words sampled by count ** `ns_exponent`, or
    "hierarchical-softmax". Words whose share of the text exceeds `subsample` are skipped at
    random. The text is read `epochs` times, while `learning_rate` falls linearly to
    `min_learning_rate`. Words with fewer than `min_count` occurrences, or beyond the
    `max_vocab_size` most frequent, are ignored. With `threads=1` the same `seed` gives the same
    vectors, bit for bit.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """


def train_word2vec(
    text: TextInput,
    settings: Word2Vec | None = None,
    *,
    tokenizer: Tokenizer | str | None = None,
    options: TrainOptions = DEFAULT_OPTIONS,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Vectors:
    """Train word vectors on a text with Word2Vec.

    Args:
        text: Path of a file or folder; documents as strings or as lists of tokens, in a list, a
            generator, a Series or an array; a `Corpus` or an `EncodedCorpus`.
        settings: How to train; the defaults of `Word2Vec` if not given.
        tokenizer: A tokenizer or its name, such as "korean"; splits at white space if not given.
            An `EncodedCorpus` has its tokens already.
        options: Initial vectors, checkpoints to resume from, and a callback per epoch.
        reporter: Receives progress in words, the mean loss per training pair, the memory needed,
            and warnings.

    Returns:
        One vector per word, most frequent words first, with counts and context matrix.

    Raises:
        InvalidArgumentError: The settings do not fit the text, the initial vectors or the memory,
            or the training diverges.
        InvalidFileError: The text or the checkpoint cannot be read.
    """
    expect_reporter(reporter)
    expect_options(options)
    settings = settings_or_default(settings, Word2Vec)

    def make_vectors(trained: TrainedNetwork) -> Vectors:
        words = trained.corpus.vocabulary
        return Vectors(
            words.words, trained.inputs, words.counts, trained.metadata, trained.context_matrix
        )

    def input_rows(keys: Keys) -> InputRows:
        return word_input_rows(len(keys))

    corpus = encode_text(text, settings.vocabulary, tokenizer, reporter)
    return train_network(corpus, settings, input_rows, options, reporter, make_vectors)
