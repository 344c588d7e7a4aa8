"""A feed-forward neural language model: settings and training (extra `train`)."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from malmoi.arguments import check_numbers, settings_or_default
from malmoi.arrays import Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.extras import require
from malmoi.files.checkpoint import Checkpoint, Checkpointer
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.keys import Keys
from malmoi.models.nnlm_model import NeuralModel, windows
from malmoi.models.sentences import BEGIN, END, UNKNOWN_WORD, check_no_marks
from malmoi.models.trie import Trie
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.text.tokenizers import Tokenizer
from malmoi.train.common.inputs import TextInput, encode_text
from malmoi.train.common.options import (
    DEFAULT_OPTIONS,
    TrainOptions,
    expect_options,
    open_checkpointer,
)
from malmoi.vocabulary import Vocabulary

if TYPE_CHECKING:
    from malmoi.models.nnlm_network import NnlmTrainer

Softmax = Literal["full", "sampled"]
WARM_UP = 0.02  # share of the steps in which the learning rate rises; then it falls to 0


@dataclass(frozen=True, kw_only=True)
class NNLM:
    """The settings of the feed-forward model of Bengio et al. (2003).

    The model predicts the next word from `context` previous words of `dim` numbers each, through
    `hidden` units. `direct` connections bypass the hidden units; a `tied` model has one table for
    input and output words. The `sampled` softmax compares each word with `negative_samples` words
    sampled for the batch, the `full` one with all words. Words with fewer than `min_count`
    occurrences, or beyond the `max_vocab_size` most frequent, become `<unk>`. With `threads=1` the
    same seed gives the same model, bit for bit.

    Raises:
        InvalidArgumentError: A setting is out of range.
    """

    context: int = 8
    """Number of previous words that the model sees."""
    dim: int = 128
    """Dimensions of a word vector."""
    hidden: int = 384
    """Units of the hidden layer."""
    direct: bool = True
    """Direct connections from the inputs to the output."""
    tied: bool = True
    """Share one table between input and output words."""
    dropout: float = 0.25
    """Share of units dropped while training."""
    softmax: Softmax = "sampled"
    """Sample other words, or compare with all of them."""
    negative_samples: int = 1000
    """Sampled softmax: words sampled per batch."""
    epochs: int = 6
    """Passes over the text."""
    batch_size: int = 512
    """Words per batch."""
    learning_rate: float = 0.002
    """Peak learning rate."""
    min_count: int = 1
    """Words with fewer occurrences become `<unk>`."""
    max_vocab_size: int | None = None
    """Keep at most so many of the most frequent words."""
    seed: int = 1
    """Same seed, one thread: same model."""
    threads: int = 1
    """Number of threads."""

    def __post_init__(self) -> None:
        check_numbers(self)
        positive = (
            "context",
            "dim",
            "hidden",
            "negative_samples",
            "epochs",
            "batch_size",
            "min_count",
        )
        for name in (*positive, "threads"):
            if getattr(self, name) < 1:
                raise InvalidArgumentError(
                    f"{name} is {getattr(self, name)}: it must be at least 1"
                )
        if self.max_vocab_size is not None and self.max_vocab_size < 1:
            raise InvalidArgumentError(
                f"max_vocab_size is {self.max_vocab_size}: it must be at least 1"
            )
        if self.softmax not in get_args(Softmax):
            raise InvalidArgumentError(
                f"softmax must be one of full, sampled; got '{self.softmax}'"
            )
        if not 0 <= self.dropout < 1:
            raise InvalidArgumentError(
                f"dropout is {self.dropout}: it must be at least 0 and below 1"
            )
        if not 0 < self.learning_rate < inf:
            raise InvalidArgumentError(
                f"learning_rate is {self.learning_rate}: it must be a number above 0"
            )
        if self.seed < 0:
            raise InvalidArgumentError(f"seed is {self.seed}: it must be at least 0")


def train_nnlm(
    text: TextInput,
    settings: NNLM | None = None,
    *,
    tokenizer: Tokenizer | str | None = None,
    options: TrainOptions = DEFAULT_OPTIONS,
    reporter: Reporter = DEFAULT_REPORTER,
) -> NeuralModel:
    """Train a feed-forward neural language model on a text.

    Args:
        text: Path of a file or folder; sentences as strings or as lists of tokens without `<s>`
            and `</s>`, in a list, a generator, a Series or an array; a `Corpus` or an
            `EncodedCorpus`. A line is a sentence.
        settings: The network and its training; the defaults of `NNLM` if not given.
        tokenizer: A tokenizer or its name, such as "korean"; splits at white space if not given.
        options: `checkpoint`, which is also written after each epoch, and `resume`; initial
            vectors are not supported.
        reporter: Receives progress in words, the loss of each batch, and warnings.

    Returns:
        The model; it does not need torch.

    Raises:
        InvalidArgumentError: The text has no words, initial vectors are given, or the training
            diverges.
        InvalidFileError: The text or the checkpoint cannot be read.
        MissingDependencyError: torch is not installed.
    """
    expect_reporter(reporter)
    expect_options(options)
    settings = settings_or_default(settings, NNLM)
    if options.init_vectors is not None:
        raise InvalidArgumentError("train_nnlm does not support init_vectors: leave them out")
    require("torch", extra="train")
    from malmoi.models.nnlm_network import repeatable

    corpus = encode_text(text, None, tokenizer, reporter)
    checkpointer = open_checkpointer(options, settings, corpus.ids, corpus.vocabulary)
    tokens, trie = prepare(corpus.ids, corpus.vocabulary, settings)
    counts = np.bincount(tokens, minlength=len(trie.words))
    progress = reporter.stage("training", "words")
    with repeatable(settings.seed, settings.threads):
        trainer = new_trainer(counts, settings)
        start = restore(trainer, checkpointer)
        for rows, before, total in batches(tokens, trie.begin, settings, start):
            loss = trainer.step(rows, settings.learning_rate * learning_rate_factor(before / total))
            if not isfinite(loss):
                raise InvalidArgumentError(
                    f"training diverged after {before:,} words (the loss is not finite): lower"
                    f" learning_rate (now {settings.learning_rate:g})"
                )
            done = before + len(rows)
            if checkpointer.is_due or done % (total // settings.epochs) == 0:
                checkpointer.save(make_checkpoint(trainer, done))
            reporter.loss(loss)
            progress(done, total)
    return NeuralModel(trie, counts, trainer.network.layers())


def new_trainer(counts: Int64Array, settings: NNLM) -> "NnlmTrainer":
    """Build a network and its optimizer."""
    from malmoi.models.nnlm_network import NnlmNetwork, NnlmTrainer

    shape = settings.context, settings.dim, settings.hidden
    network = NnlmNetwork(
        counts, shape, direct=settings.direct, tied=settings.tied, drop=settings.dropout
    )
    negative_samples = settings.negative_samples if settings.softmax == "sampled" else 0
    return NnlmTrainer(network, counts, negative_samples, settings.seed)


def make_checkpoint(trainer: "NnlmTrainer", done: int) -> Checkpoint:
    """Collect the state after `done` words, for a checkpoint."""
    state = {"done": done, "random": trainer.random.bit_generator.state}
    return Checkpoint(trainer.tensors(), state)


def restore(trainer: "NnlmTrainer", checkpointer: Checkpointer) -> int:
    """Restore the state from the checkpoint, if there is one; returns how many words are done."""
    if checkpointer.restored is None:
        return 0
    with checkpointer.restored.restoring():
        trainer.restore(checkpointer.restored.tensors)
        trainer.random.bit_generator.state = checkpointer.restored.state["random"]
        return int(checkpointer.restored.state["done"])


def batches(
    tokens: UInt32Array, begin: int, settings: NNLM, start: int = 0
) -> Iterator[tuple[UInt32Array, int, int]]:
    """Iterate over the batches of all epochs in random order: (windows, words before, total words).

    `start`, the end of a batch, skips the batches before it without changing the order.
    """
    all_windows, predicting = windows(tokens, begin, settings.context)
    random = np.random.default_rng(settings.seed)
    for epoch in range(settings.epochs):
        order = random.permutation(predicting)
        before = epoch * len(order)
        for first in range(max(0, start - before), len(order), settings.batch_size):
            rows = all_windows[order[first : first + settings.batch_size]]
            yield rows, before + first, settings.epochs * len(order)


def learning_rate_factor(done: float) -> float:
    """Return the factor of the learning rate after a share `done` of all steps."""
    return min((done + WARM_UP / 100) / WARM_UP, (1 - done) / (1 - WARM_UP))


def prepare(ids: UInt32Array, vocabulary: Vocabulary, settings: NNLM) -> tuple[UInt32Array, Trie]:
    """Return the stream with marked lines, and the trie of the vocabulary with `<s>` last."""
    check_no_marks(mark for mark in (BEGIN, END) if mark in vocabulary)
    if not np.any(ids != LINE_END):
        raise InvalidArgumentError("the corpus has no words: give a text with at least one word")
    words = Vocabulary.chosen(
        vocabulary.words,
        vocabulary.counts,
        min_count=settings.min_count,
        size=settings.max_vocab_size,
    ).words
    if not len(words):
        raise InvalidArgumentError(
            f"no word occurs {settings.min_count} times, the most frequent one"
            f" {vocabulary.counts.max():,} times: lower min_count"
        )
    marks = [mark for mark in (UNKNOWN_WORD, END, BEGIN) if mark not in words]
    trie = Trie(Keys.of([*words, *marks]), ())
    rows = trie.words.find_all(vocabulary.words)
    renumbered = np.where(rows < 0, UNKNOWN, rows).astype(np.uint32)
    is_word = ids < UNKNOWN
    if np.any(ids[is_word] >= len(vocabulary)):
        raise InvalidArgumentError(
            f"the stream holds ids beyond the {len(vocabulary):,} words: encode again"
        )
    stream = np.array(ids)
    stream[is_word] = renumbered[ids[is_word]]
    return trie.marked(stream), trie
