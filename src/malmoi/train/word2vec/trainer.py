"""The epochs of Word2Vec and FastText: parts of the text learnt by several threads, without locks.

What chance decides in a part follows from the seed and the part alone, whoever works on it. So
all that is remembered are the two sides of the network and the loss of each part, which a kernel
sets when it is done with it: wherever a training is stopped, what is left to do is known.
"""

from collections.abc import Callable
from contextlib import closing
from queue import SimpleQueue

import numpy as np

from malmoi.arrays import Float64Array, Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError, warn
from malmoi.files.checkpoint import Checkpoint, Checkpointer
from malmoi.kernels.marks import LINE_END
from malmoi.kernels.threads import THREADS
from malmoi.kernels.word2vec.random import CERTAIN, alias_table, seeded
from malmoi.kernels.word2vec.rows import aligned_rows
from malmoi.kernels.word2vec.tiles import LANES, TILE
from malmoi.kernels.word2vec.train_words import (
    SENTENCE,
    Plan,
    Targets,
    WordNetwork,
    Words,
    Workspace,
)
from malmoi.kernels.word2vec.word_trainer import Word2VecKernel
from malmoi.reporting.reporter import Progress
from malmoi.text.parallel import in_order
from malmoi.train.word2vec.huffman import huffman_paths
from malmoi.train.word2vec.settings import WordSettings

PART = 50_000  # words and line ends that one thread learns at a time
WATCHED = 64  # of so many windows one is asked for its loss
FEW = 500_000  # words and line ends in a text so small that every window is asked
HARDLY = 0.1  # of all words: if fewer stay, that is told
TO_DO = -1.0  # the loss of a part that was not learnt yet

Told = Callable[[float], None]  # takes the mean loss of the pairs learnt lately, an epoch's worth


class Word2VecTrainer:
    """A network that learns a stream of ids; `losses` [epochs, parts, 2] are sums and pairs."""

    def __init__(
        self,
        ids: UInt32Array,
        words: Words,
        network: WordNetwork,
        counts: Int64Array,
        settings: WordSettings,
    ) -> None:
        self.ids, self.words, self.network, self.settings = ids, words, network, settings
        self.bounds = part_bounds(ids)
        # More threads than parts would learn several epochs of a small text at a time.
        self.threads = min(settings.threads, THREADS, max(len(self.bounds) - 1, 1))
        self.targets = targets_of(counts, settings)
        self._trainer = Word2VecKernel(words, network, self.targets)
        own_rows = np.array_equal(words.rows, np.arange(len(counts))) and np.all(words.moves == 1)
        self.is_direct = settings.architecture == "cbow" and bool(own_rows)
        self.losses: Float64Array = np.full((settings.epochs, len(self.bounds) - 1, 2), TO_DO)
        self._rooms: SimpleQueue[Workspace] = SimpleQueue()
        for _ in range(self.threads):
            self._rooms.put(self._room(len(counts)))

    def run(self, keeper: Checkpointer, progress: Progress, told: Told) -> None:
        """Do what is left to do; how far it is goes to the keeper, also when interrupted."""
        flat = self.losses.reshape(-1, 2)
        try:
            while len(left := np.flatnonzero(flat[:, 0] == TO_DO)):
                self._say(progress, told)
                parts = keeper.until_due(left.tolist())
                with closing(in_order(self._learn, parts, self.threads)) as learnt:
                    for _ in learnt:
                        self._say(progress, told)
                if keeper.is_due:  # nobody is at work now: the network stays as it is
                    keeper.save(self.as_checkpoint())
        except KeyboardInterrupt:
            keeper.save(self.as_checkpoint())
            raise
        self._say(progress, told)
        for side in self.network:  # the loss does not tell of the last steps
            self._refuse_overflow(float(side.min()), float(side.max()))

    def epoch_losses(self) -> tuple[float | None, ...]:
        """The mean loss of a pair in each epoch; none where chance left no pair."""
        return tuple(
            loss / pairs if pairs else None for loss, pairs in self.losses.sum(axis=1).tolist()
        )

    def as_checkpoint(self) -> Checkpoint:
        """All that the rest of the training depends on."""
        inputs, outputs = self.network
        return Checkpoint({"inputs": inputs, "outputs": outputs, "losses": self.losses}, {})

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from there."""
        checkpoint.copy_to(self.as_checkpoint().tensors)

    def _learn(self, part: int) -> None:
        settings = self.settings
        epoch, place = divmod(part, len(self.bounds) - 1)
        first, last = self.bounds[place : place + 2].tolist()
        fall = (settings.learning_rate - settings.final_rate) / (settings.epochs * len(self.ids))
        plan = Plan(
            settings.architecture == "skip-gram",
            self.is_direct,
            settings.window,
            settings.shrinking,
            settings.learning_rate - fall * (epoch * len(self.ids) + first),
            fall,
            WATCHED if len(self.ids) > FEW else 1,
        )
        chance, result = seeded(settings.seed, part), self.losses[epoch, place]
        room = self._rooms.get()
        try:
            self._trainer.train(self.ids[first:last], plan, chance, room, result)
        finally:  # or others would wait for it forever
            self._rooms.put(room)

    def _say(self, progress: Progress, told: Told) -> None:
        done = self.losses.reshape(-1, 2)
        done = done[done[:, 0] != TO_DO]
        total = self.settings.epochs * len(self.ids)
        progress(total * len(done) * 2 // self.losses.size, total)
        loss, pairs = done[1 - len(self.bounds) :].sum(axis=0).tolist()
        self._refuse_overflow(loss)
        if pairs:
            told(loss / pairs)

    def _refuse_overflow(self, *numbers: float) -> None:
        if not np.all(np.isfinite(numbers)):
            rate = self.settings.learning_rate
            raise InvalidArgumentError(
                f"nothing is learnt any more: learning_rate is {rate:g}, lower it"
            )

    def _room(self, words: int) -> Workspace:
        width, reach = self.network.inputs.shape[1], 2 * self.settings.window
        most = longest_targets(self.targets) + TILE + LANES
        return Workspace(
            np.full(words, -1, np.int32),
            np.zeros(SENTENCE, np.int32),
            np.zeros(SENTENCE, np.int32),
            np.zeros(SENTENCE, np.int32),
            aligned_rows(SENTENCE, width),
            aligned_rows(SENTENCE, width),
            np.zeros(reach, np.int32),
            np.zeros(reach, np.float32),
            aligned_rows(1, width)[0],
            np.zeros((2, most), np.int32),
            np.zeros((2, most), np.float32),
            np.zeros((2, most), np.float32),
            aligned_rows(reach, LANES),
            aligned_rows(TILE, width),
        )


def part_bounds(ids: UInt32Array) -> Int64Array:
    """Where parts begin and end: after a line, unless that is far."""
    bounds = [0]
    while bounds[-1] < len(ids):
        wanted = min(bounds[-1] + PART, len(ids))
        ends = np.flatnonzero(ids[wanted - 1 : wanted - 1 + PART] == LINE_END)
        bounds.append(int(min(wanted + ends[0], len(ids))) if len(ends) else wanted)
    return np.array(bounds, np.int64)


def targets_of(counts: Int64Array, settings: WordSettings) -> Targets:
    """What words are told by: negatives by their counts, or paths in a tree."""
    if settings.softmax == "hierarchical":
        return Targets(0, np.empty((0, 2), np.uint32), *huffman_paths(counts))
    table = alias_table(np.maximum(counts, 1).astype(np.float64) ** settings.power)
    none = np.zeros(0, np.int32)
    return Targets(settings.negatives, table, np.zeros(1, np.int64), none, none.astype(np.uint8))


def longest_targets(targets: Targets) -> int:
    """How many targets a word has at most."""
    if len(targets.table):
        return 1 + targets.negatives
    return int(np.diff(targets.starts).max(initial=0))


def keep_chances(counts: Int64Array, subsample: float) -> UInt32Array:
    """How likely each word stays, of 2³²: √(t / f) + t / f, as in word2vec's program."""
    if subsample == 0:
        return np.full(len(counts), CERTAIN, np.uint32)
    ratio = subsample * counts.sum() / np.maximum(counts, 1)
    chances = np.minimum(np.sqrt(ratio) + ratio, 1)
    return np.asarray(chances * float(CERTAIN), np.uint32)


def note_subsampling(counts: Int64Array, keep: UInt32Array, subsample: float) -> None:
    """Where words are few, each is so frequent that hardly any stays: that is told."""
    stay = float(counts @ (keep / CERTAIN) / counts.sum())
    if stay < HARDLY:
        warn(
            f"subsample is {subsample:g}: only {stay:.2%} of the words of this text stay;"
            " raise it, or set it to 0"
        )
