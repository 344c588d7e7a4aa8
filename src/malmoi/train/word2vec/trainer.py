"""Word2VecTrainer: the epochs of Word2Vec and FastText, in chunks of the text.

The random numbers of a chunk follow from the seed and the chunk's number alone, whichever thread
trains it.
"""

from collections.abc import Iterable, Iterator
from queue import SimpleQueue

import numpy as np

from malmoi.arrays import Int64Array, UInt32Array
from malmoi.files.tensors import Tensors
from malmoi.kernels.marks import LINE_END
from malmoi.kernels.threads import THREADS
from malmoi.kernels.word2vec.random import PROBABILITY_ONE, alias_table, seeded
from malmoi.kernels.word2vec.rows import aligned_rows
from malmoi.kernels.word2vec.tiles import LANES, TILE
from malmoi.kernels.word2vec.train_words import (
    MAX_SENTENCE_WORDS,
    Plan,
    Targets,
    WordNetwork,
    Words,
    Workspace,
)
from malmoi.kernels.word2vec.word_trainer import Word2VecKernel
from malmoi.reporting.reporter import Reporter
from malmoi.train.common.epochs import PENDING, EpochTrainer
from malmoi.train.word2vec.huffman import huffman_paths
from malmoi.train.word2vec.settings import WordSettings

CHUNK_TOKENS = 50_000  # words and line ends that one thread trains at a time
LOSS_EVERY = 64  # windows: the loss of one in so many is measured
FULL_LOSS_BELOW = 500_000  # words and line ends: of smaller texts every window is measured
MIN_KEPT_SHARE = 0.1  # of all words: a warning if subsampling keeps fewer


class Word2VecTrainer(EpochTrainer[int]):
    """Trains a network on a stream of ids; `losses` [epochs, chunks, 2] are sums and pairs."""

    unit = "words"

    def __init__(
        self,
        ids: UInt32Array,
        words: Words,
        network: WordNetwork,
        counts: Int64Array,
        settings: WordSettings,
    ) -> None:
        self.ids, self.words, self.network, self.settings = ids, words, network, settings
        self.bounds = chunk_bounds(ids)
        chunks = len(self.bounds) - 1
        super().__init__(
            np.full((settings.epochs, chunks, 2), PENDING),
            steps=len(ids),
            # More threads than chunks would train several epochs of a small text at a time.
            threads=min(settings.threads, THREADS, max(chunks, 1)),
            learning_rate=settings.learning_rate,
        )
        self.targets = make_targets(counts, settings)
        self._kernel = Word2VecKernel(words, network, self.targets)
        own_rows = np.array_equal(words.rows, np.arange(len(counts))) and np.all(words.moves == 1)
        self.is_direct = settings.architecture == "cbow" and bool(own_rows)
        self._workspaces: SimpleQueue[Workspace] = SimpleQueue()
        for _ in range(self.threads):
            self._workspaces.put(self._new_workspace(len(counts)))

    def tensors(self) -> Tensors:
        """Both sides of the network."""
        return {"inputs": self.network.inputs, "outputs": self.network.outputs}

    def jobs(self, chunks: Iterable[int]) -> Iterator[int]:
        """The chunks themselves."""
        return iter(chunks)

    def train_chunk(self, job: int) -> None:
        """Train one chunk of one epoch; the learning rate falls linearly on the way."""
        settings = self.settings
        epoch, chunk = divmod(job, len(self.bounds) - 1)
        first, last = self.bounds[chunk : chunk + 2].tolist()
        decay = (settings.learning_rate - settings.min_learning_rate) / (
            settings.epochs * len(self.ids)
        )
        plan = Plan(
            settings.architecture == "skip-gram",
            self.is_direct,
            settings.window,
            settings.shrink_windows,
            settings.learning_rate - decay * (epoch * len(self.ids) + first),
            decay,
            LOSS_EVERY if len(self.ids) > FULL_LOSS_BELOW else 1,
        )
        state, loss = seeded(settings.seed, job), self.losses[epoch, chunk]
        workspace = self._workspaces.get()
        try:
            self._kernel.train(self.ids[first:last], plan, state, workspace, loss)
        finally:  # or other threads would wait for it forever
            self._workspaces.put(workspace)

    def report_loss(self, reporter: Reporter) -> None:
        """Report the mean loss per pair of the last epoch's worth of chunks."""
        done = self.losses.reshape(-1, 2)[~self.is_pending]
        loss, pairs = done[1 - len(self.bounds) :].sum(axis=0).tolist()
        self.check_finite(loss)
        if pairs:
            reporter.loss(loss / pairs)

    def epoch_loss(self, epoch: int) -> float | None:
        """The mean loss per pair of an epoch; None if no pair was measured."""
        loss, pairs = self.losses[epoch].sum(axis=0).tolist()
        return loss / pairs if pairs else None

    def _new_workspace(self, words: int) -> Workspace:
        width, contexts = self.network.inputs.shape[1], 2 * self.settings.window
        targets = max_targets(self.targets) + TILE + LANES
        return Workspace(
            np.full(words, -1, np.int32),
            np.zeros(MAX_SENTENCE_WORDS, np.int32),
            np.zeros(MAX_SENTENCE_WORDS, np.int32),
            np.zeros(MAX_SENTENCE_WORDS, np.int32),
            aligned_rows(MAX_SENTENCE_WORDS, width),
            aligned_rows(MAX_SENTENCE_WORDS, width),
            np.zeros(contexts, np.int32),
            np.zeros(contexts, np.float32),
            aligned_rows(1, width)[0],
            np.zeros((2, targets), np.int32),
            np.zeros((2, targets), np.float32),
            np.zeros((2, targets), np.float32),
            aligned_rows(contexts, LANES),
            aligned_rows(TILE, width),
        )


def chunk_bounds(ids: UInt32Array) -> Int64Array:
    """Where chunks start and end: after a line, unless its end is far."""
    bounds = [0]
    while bounds[-1] < len(ids):
        end = min(bounds[-1] + CHUNK_TOKENS, len(ids))
        line_ends = np.flatnonzero(ids[end - 1 : end - 1 + CHUNK_TOKENS] == LINE_END)
        bounds.append(int(min(end + line_ends[0], len(ids))) if len(line_ends) else end)
    return np.array(bounds, np.int64)


def make_targets(counts: Int64Array, settings: WordSettings) -> Targets:
    """What a word is predicted by: negative samples by count, or its path in a Huffman tree."""
    if settings.loss == "hierarchical-softmax":
        return Targets(0, np.empty((0, 2), np.uint32), *huffman_paths(counts))
    table = alias_table(np.maximum(counts, 1).astype(np.float64) ** settings.ns_exponent)
    none = np.zeros(0, np.int32)
    no_starts = np.zeros(1, np.int64)
    return Targets(settings.negative_samples, table, no_starts, none, none.astype(np.uint8))


def max_targets(targets: Targets) -> int:
    """The largest number of targets of a word."""
    if len(targets.table):
        return 1 + targets.negative_samples
    return int(np.diff(targets.starts).max(initial=0))


def keep_probabilities(counts: Int64Array, subsample: float) -> UInt32Array:
    """The probability, of 2³², that a word is kept: √(t / f) + t / f, as in word2vec.c."""
    if subsample == 0:
        return np.full(len(counts), PROBABILITY_ONE, np.uint32)
    ratio = subsample * counts.sum() / np.maximum(counts, 1)
    probabilities = np.minimum(np.sqrt(ratio) + ratio, 1)
    return np.asarray(probabilities * float(PROBABILITY_ONE), np.uint32)


def warn_subsampling(
    counts: Int64Array, keep: UInt32Array, subsample: float, reporter: Reporter
) -> None:
    """Warn where the vocabulary is so small that subsampling skips nearly every word."""
    share = float(counts @ (keep / PROBABILITY_ONE) / counts.sum())
    if share < MIN_KEPT_SHARE:
        reporter.warn(
            f"subsample is {subsample:g}: only {share:.2%} of the words of this text are kept;"
            " raise it, or set it to 0"
        )
