"""A feed-forward neural language model: settings and training (extra `train`)."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from malmoi.arrays import Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.extras import require
from malmoi.files.checkpoint import Checkpoint, Checkpointer
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.keys import Keys
from malmoi.models.nnlm_model import NeuralModel, windows
from malmoi.models.sentences import BEGIN, END, UNKNOWN_WORD, check_no_marks
from malmoi.models.trie import Trie
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter
from malmoi.text.tokenizers import Tokenizer
from malmoi.train.common.inputs import Sentences, encode_sentences
from malmoi.train.common.options import DEFAULT_OPTIONS, TrainOptions, open_checkpointer
from malmoi.vocabulary import Vocabulary

if TYPE_CHECKING:
    from malmoi.models.nnlm_network import NnlmTrainer

Softmax = Literal["full", "sampled"]
WARM_UP = 0.02  # of all steps, until the learning rate is reached; it falls to 0 from there


@dataclass(frozen=True, kw_only=True)
class NNLM:
    """How the model of Bengio et al. (2003) is trained.

    From `context` previous words of `dim` numbers each, through `hidden` units, to the next
    one. `direct` connections lead past the hidden units; a `tied` model has one table for the
    words it reads and those it predicts. The `sampled` softmax compares each word with
    `negative_samples` others drawn for the batch, the `full` one with all. Words seen fewer than
    `min_count` times, or beyond the `max_vocab_size` most frequent, are `<unk>`. With `threads=1`
    the same seed gives the same model, bit for bit.
    """

    context: int = 8
    """How many words before are looked at."""
    dim: int = 128
    """Numbers in a word's vector."""
    hidden: int = 384
    """Units between words and the next one."""
    direct: bool = True
    """Connections that lead past the hidden units."""
    tied: bool = True
    """One table for context words and predicted words."""
    dropout: float = 0.25
    """The share of units left out while learning."""
    softmax: Softmax = "sampled"
    """Compare with some other words, or with all."""
    negative_samples: int = 1000
    """How many others, if some."""
    epochs: int = 6
    """How often the text is learnt."""
    batch_size: int = 512
    """Words learnt at a time."""
    learning_rate: float = 0.002
    """At its highest."""
    min_count: int = 1
    """Rarer words become one unknown word."""
    max_vocab_size: int | None = None
    """Only so many of the most frequent words."""
    seed: int = 1
    """Same seed, one thread: same model."""
    threads: int = 1
    """How many work at once."""

    def __post_init__(self) -> None:
        counted = (
            "context",
            "dim",
            "hidden",
            "negative_samples",
            "epochs",
            "batch_size",
            "min_count",
        )
        for name in (*counted, "threads"):
            if getattr(self, name) < 1:
                raise InvalidArgumentError(f"{name} is {getattr(self, name)}: it is at least 1")
        if self.max_vocab_size is not None and self.max_vocab_size < 1:
            raise InvalidArgumentError(
                f"max_vocab_size is {self.max_vocab_size}: it must be at least 1"
            )
        if self.softmax not in get_args(Softmax):
            raise InvalidArgumentError(f"'{self.softmax}' is no softmax: choose full or sampled")
        if not 0 <= self.dropout < 1:
            raise InvalidArgumentError(
                f"dropout is {self.dropout}: it is a part, from 0 to below 1"
            )
        if not 0 < self.learning_rate < inf:
            raise InvalidArgumentError(
                f"learning_rate is {self.learning_rate}: give a number above 0"
            )
        if self.seed < 0:
            raise InvalidArgumentError(f"seed is {self.seed}: it is at least 0")


def train_nnlm(
    text: Sentences,
    settings: NNLM | None = None,
    *,
    tokenizer: Tokenizer | str | None = None,
    options: TrainOptions = DEFAULT_OPTIONS,
    reporter: Reporter = DEFAULT_REPORTER,
) -> NeuralModel:
    """Train a feed-forward neural language model on a text.

    Args:
        text: Path of a file or folder, documents as strings, a `Corpus` or an `EncodedCorpus`; or
            sentences as lists of tokens, without `<s>` and `</s>`. A line is a sentence.
        settings: The network and its training; the defaults of `NNLM` if not given.
        tokenizer: A tokenizer or its name, such as "korean"; splits at white space if not given.
        options: `checkpoint`, which is also written after each epoch, and `resume`; initial
            vectors are not supported.
        reporter: Receives progress in words, the loss of each batch, and warnings.

    Returns:
        The model, which needs no torch.

    Raises:
        InvalidArgumentError: The text has no words, initial vectors are given, or the training
            diverges.
        InvalidFileError: The text or the checkpoint cannot be read.
        MissingDependencyError: torch is not installed.
    """
    settings = settings or NNLM()
    if options.init_vectors is not None:
        raise InvalidArgumentError("train_nnlm does not support init_vectors: leave them out")
    require("torch", extra="train")
    from malmoi.models.nnlm_network import repeatable

    corpus = encode_sentences(text, tokenizer, reporter)
    checkpointer = open_checkpointer(options, settings, corpus.ids, corpus.vocabulary)
    tokens, trie = prepared(corpus.ids, corpus.vocabulary, settings)
    counts = np.bincount(tokens, minlength=len(trie.words))
    progress = reporter.stage("training", "words")
    with repeatable(settings.seed, settings.threads):
        learner = new_learner(counts, settings)
        start = restore(learner, checkpointer)
        for rows, before, total in batches(tokens, trie.begin, settings, start):
            loss = learner.step(rows, settings.learning_rate * pace(before / total))
            if not isfinite(loss):
                raise InvalidArgumentError(
                    f"training diverged after {before:,} words (the loss is not finite): lower"
                    f" learning_rate (now {settings.learning_rate:g})"
                )
            done = before + len(rows)
            if checkpointer.is_due or done % (total // settings.epochs) == 0:
                checkpointer.save(as_checkpoint(learner, done))
            reporter.loss(loss)
            progress(done, total)
    return NeuralModel(trie, counts, learner.network.layers())


def new_learner(counts: Int64Array, settings: NNLM) -> "NnlmTrainer":
    """A network that knows nothing yet."""
    from malmoi.models.nnlm_network import NnlmNetwork, NnlmTrainer

    shape = settings.context, settings.dim, settings.hidden
    network = NnlmNetwork(
        counts, shape, direct=settings.direct, tied=settings.tied, drop=settings.dropout
    )
    negatives = settings.negative_samples if settings.softmax == "sampled" else 0
    return NnlmTrainer(network, counts, negatives, settings.seed)


def as_checkpoint(learner: "NnlmTrainer", done: int) -> Checkpoint:
    """All that the rest of the training depends on, after so many words."""
    state = {"done": done, "random": learner.random.bit_generator.state}
    return Checkpoint(learner.tensors(), state)


def restore(learner: "NnlmTrainer", checkpointer: Checkpointer) -> int:
    """Restore the state from the checkpoint, if there is one; returns how many words are done."""
    if checkpointer.restored is None:
        return 0
    with checkpointer.restored.restoring():
        learner.restore(checkpointer.restored.tensors)
        learner.random.bit_generator.state = checkpointer.restored.state["random"]
        return int(checkpointer.restored.state["done"])


def batches(
    tokens: UInt32Array, begin: int, settings: NNLM, start: int = 0
) -> Iterator[tuple[UInt32Array, int, int]]:
    """The windows of all epochs in random order; how many went before, and will be in all.

    From `start`, the end of some batch, they come as if the ones before had come too.
    """
    every, predicting = windows(tokens, begin, settings.context)
    random = np.random.default_rng(settings.seed)
    for epoch in range(settings.epochs):
        order = random.permutation(predicting)
        before = epoch * len(order)
        for first in range(max(0, start - before), len(order), settings.batch_size):
            rows = every[order[first : first + settings.batch_size]]
            yield rows, before + first, settings.epochs * len(order)


def pace(done: float) -> float:
    """What part of the learning rate is used when this part of all steps is done."""
    return min((done + WARM_UP / 100) / WARM_UP, (1 - done) / (1 - WARM_UP))


def prepared(ids: UInt32Array, vocabulary: Vocabulary, settings: NNLM) -> tuple[UInt32Array, Trie]:
    """The stream with marked lines, and the words that are kept with `<s>` last."""
    check_no_marks(mark for mark in (BEGIN, END) if mark in vocabulary)
    if not np.any(ids != LINE_END):
        raise InvalidArgumentError("there is nothing to learn from: the corpus holds no word")
    kept = Vocabulary.chosen(
        vocabulary.words,
        vocabulary.counts,
        min_count=settings.min_count,
        size=settings.max_vocab_size,
    ).words
    if not len(kept):
        raise InvalidArgumentError(
            f"no word was seen {settings.min_count} times, the most frequent one"
            f" {vocabulary.counts.max():,} times: lower min_count"
        )
    marks = [mark for mark in (UNKNOWN_WORD, END, BEGIN) if mark not in kept]
    trie = Trie(Keys.of([*kept, *marks]), ())
    rows = trie.words.find_all(vocabulary.words)
    renumbered = np.where(rows < 0, UNKNOWN, rows).astype(np.uint32)
    ordinary = ids < UNKNOWN
    if np.any(ids[ordinary] >= len(vocabulary)):
        raise InvalidArgumentError(
            f"the stream holds ids beyond the {len(vocabulary):,} words: encode again"
        )
    stream = np.array(ids)
    stream[ordinary] = renumbered[ids[ordinary]]
    return trie.marked(stream), trie
