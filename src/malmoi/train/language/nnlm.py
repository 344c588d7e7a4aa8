"""A feed-forward neural language model from sentences or a stream of ids (extra `train`)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from malmoi.arrays import Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.extras import require
from malmoi.files.checkpoint import Checkpoint, Checkpointer, RunFingerprint
from malmoi.kernels.marks import LINE_END, UNKNOWN
from malmoi.keys import Keys
from malmoi.models.nnlm_model import NeuralModel, windows
from malmoi.models.sentences import BEGIN, END, UNKNOWN_WORD, refuse_marks
from malmoi.models.trie import Trie
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.train.language.sentence_counts import encode_sentences
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
    words it looks at and those it foretells. The `sampled` softmax compares each word with
    `negatives` others drawn for the batch, the `full` one with all. Words seen fewer than
    `min_count` times, or beyond the `size` most frequent, are `<unk>`. The same seed gives
    the same model, bit for bit, on one of `threads`.
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
    """One table for words looked at and foretold."""
    dropout: float = 0.25
    """The share of units left out while learning."""
    softmax: Softmax = "sampled"
    """Compare with some other words, or with all."""
    negatives: int = 1000
    """How many others, if some."""
    epochs: int = 6
    """How often the text is learnt."""
    batch: int = 512
    """Words learnt at a time."""
    learning_rate: float = 0.002
    """At its highest."""
    min_count: int = 1
    """Rarer words become one unknown word."""
    size: int | None = None
    """Only so many of the most frequent words."""
    seed: int = 1
    """Same seed, one thread: same model."""
    threads: int = 1
    """How many work at once."""

    def __post_init__(self) -> None:
        counted = ("context", "dim", "hidden", "negatives", "epochs", "batch", "min_count")
        for name in (*counted, "threads"):
            if getattr(self, name) < 1:
                raise InvalidArgumentError(f"{name} is {getattr(self, name)}: it is at least 1")
        if self.size is not None and self.size < 1:
            raise InvalidArgumentError(f"size is {self.size}: keep at least 1 word")
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
    sentences: Iterable[Sequence[str]],
    settings: NNLM | None = None,
    *,
    checkpoint: Path | None = None,
    resume: bool = False,
    progress: Progress = no_progress,
) -> NeuralModel:
    """The model of sentences, each a list of words without `<s>` and `</s>`."""
    ids, vocabulary = encode_sentences(sentences)
    return train_nnlm_ids(
        ids, vocabulary, settings, checkpoint=checkpoint, resume=resume, progress=progress
    )


def train_nnlm_ids(
    ids: UInt32Array,
    vocabulary: Vocabulary,
    settings: NNLM | None = None,
    *,
    checkpoint: Path | None = None,
    resume: bool = False,
    progress: Progress = no_progress,
) -> NeuralModel:
    """The model of a stream of ids: LINE_END after each line, UNKNOWN for unknown words.

    After each epoch, and every minute, how far it is goes to `checkpoint`; from there `resume`
    goes on. The file is left for whoever has the model safe to discard. Progress is told in
    words learnt, out of those of all epochs.
    """
    settings = settings or NNLM()
    require("torch", extra="train")
    from malmoi.models.nnlm_network import repeatable

    keeper = Checkpointer(checkpoint, RunFingerprint.of(settings, ids, vocabulary), resume=resume)
    tokens, trie = prepared(ids, vocabulary, settings)
    counts = np.bincount(tokens, minlength=len(trie.words))
    with repeatable(settings.seed, settings.threads):
        learner = new_learner(counts, settings)
        start = taken_up(learner, keeper)
        for rows, before, total in batches(tokens, trie.begin, settings, start):
            loss = learner.step(rows, settings.learning_rate * pace(before / total))
            if not isfinite(loss):
                raise InvalidArgumentError(
                    f"after {before:,} words nothing is foretold any more: learning_rate is"
                    f" {settings.learning_rate:g}, lower it"
                )
            done = before + len(rows)
            if keeper.is_due or done % (total // settings.epochs) == 0:
                keeper.save(as_checkpoint(learner, done))
            progress(done, total)
    return NeuralModel(trie, counts, learner.network.layers())


def new_learner(counts: Int64Array, settings: NNLM) -> "NnlmTrainer":
    """A network that knows nothing yet."""
    from malmoi.models.nnlm_network import NnlmNetwork, NnlmTrainer

    shape = settings.context, settings.dim, settings.hidden
    network = NnlmNetwork(
        counts, shape, direct=settings.direct, tied=settings.tied, drop=settings.dropout
    )
    negatives = settings.negatives if settings.softmax == "sampled" else 0
    return NnlmTrainer(network, counts, negatives, settings.seed)


def as_checkpoint(learner: "NnlmTrainer", done: int) -> Checkpoint:
    """All that the rest of the training depends on, after so many words."""
    state = {"done": done, "random": learner.random.bit_generator.state}
    return Checkpoint(learner.tensors(), state)


def taken_up(learner: "NnlmTrainer", keeper: Checkpointer) -> int:
    """Let a new learner go on from a checkpoint, if there is one; after how many words that is."""
    if keeper.restored is None:
        return 0
    with keeper.restored.restoring():
        learner.restore(keeper.restored.tensors)
        learner.random.bit_generator.state = keeper.restored.state["random"]
        return int(keeper.restored.state["done"])


def batches(
    tokens: UInt32Array, begin: int, settings: NNLM, start: int = 0
) -> Iterator[tuple[UInt32Array, int, int]]:
    """The windows of all epochs in random order; how many went before, and will be in all.

    From `start`, the end of some batch, they come as if the ones before had come too.
    """
    every, foretelling = windows(tokens, begin, settings.context)
    random = np.random.default_rng(settings.seed)
    for epoch in range(settings.epochs):
        order = random.permutation(foretelling)
        before = epoch * len(order)
        for first in range(max(0, start - before), len(order), settings.batch):
            rows = every[order[first : first + settings.batch]]
            yield rows, before + first, settings.epochs * len(order)


def pace(done: float) -> float:
    """What part of the learning rate is used when this part of all steps is done."""
    return min((done + WARM_UP / 100) / WARM_UP, (1 - done) / (1 - WARM_UP))


def prepared(ids: UInt32Array, vocabulary: Vocabulary, settings: NNLM) -> tuple[UInt32Array, Trie]:
    """The stream with marked lines, and the words that are kept with `<s>` last."""
    refuse_marks(mark for mark in (BEGIN, END) if mark in vocabulary)
    if not np.any(ids != LINE_END):
        raise InvalidArgumentError("there is nothing to learn from: the corpus holds no word")
    kept = Vocabulary.chosen(
        vocabulary.words, vocabulary.counts, min_count=settings.min_count, size=settings.size
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
