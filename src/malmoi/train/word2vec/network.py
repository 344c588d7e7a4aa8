"""From text and settings to a network that has learnt: what Word2Vec and FastText do alike."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError
from malmoi.files.checkpoint import Checkpointer, RunFingerprint
from malmoi.kernels.threads import THREADS
from malmoi.kernels.word2vec.rows import aligned_rows, padded_width
from malmoi.kernels.word2vec.train_words import SENTENCE, WordNetwork, Words
from malmoi.keys import Keys
from malmoi.reporting.reporter import Progress
from malmoi.text.encoded import EncodedCorpus
from malmoi.train.common.memory import Telling, require_memory
from malmoi.train.word2vec.initialization import (
    begin_from,
    origin_of,
    random_rows,
    refuse_misfits,
    with_words_of,
)
from malmoi.train.word2vec.input_rows import InputRows
from malmoi.train.word2vec.settings import WordSettings
from malmoi.train.word2vec.trainer import (
    PART,
    Told,
    Word2VecTrainer,
    keep_chances,
    note_subsampling,
)
from malmoi.vectors import Vectors


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """What a training is given besides text and settings: where it begins, who is told."""

    start: Vectors | None
    frozen: bool
    update: bool
    checkpoint: str | Path | None
    resume: bool
    progress: Progress
    on_loss: Told
    tell_memory: Telling


@dataclass(frozen=True, eq=False)
class Trained:
    """A network that has learnt a corpus."""

    corpus: EncodedCorpus
    settings: WordSettings
    network: WordNetwork
    rows: InputRows
    frozen: npt.NDArray[np.bool_]  # [words]
    losses: tuple[float | None, ...]

    @property
    def inputs(self) -> Float32Array:
        """Rows of words and n-grams, as wide as they are."""
        return np.ascontiguousarray(self.network.inputs[:, : self.settings.dim])

    @property
    def output(self) -> Float32Array | None:
        """The other side, so that training can go on; the tree of another text is another."""
        if self.settings.softmax == "hierarchical":
            return None
        return np.ascontiguousarray(self.network.outputs[:, : self.settings.dim])

    @property
    def meta(self) -> dict[str, str]:
        """What the vectors' file says of how they were made."""
        return {
            "method": type(self.settings).__name__.lower(),
            "tokenizer": self.corpus.tokenizer,
            "settings": json.dumps(asdict(self.settings)),
            "losses": json.dumps(self.losses),
        }


def train_network(
    corpus: EncodedCorpus,
    settings: WordSettings,
    rows_of: Callable[[Keys], InputRows],
    given: TrainOptions,
) -> Trained:
    """Let a network learn a corpus; `rows_of` words are what stands for them on its input side."""
    if given.update and given.start is not None:
        corpus = with_words_of(given.start, corpus)
    refuse_misfits(corpus, settings, given.start, given.frozen, given.update)
    vocabulary, dim = corpus.vocabulary, settings.dim
    rows = rows_of(vocabulary.words)
    require_memory(memory_of(rows, len(corpus.ids), settings), given.tell_memory)
    keeper = keeper_of(corpus, settings, given)
    network = WordNetwork(
        random_rows(len(rows), dim, settings.seed), aligned_rows(rows.words, padded_width(dim))
    )
    frozen = np.zeros(rows.words, np.bool_)
    if given.start is not None:
        begun = begin_from(given.start, network, rows, vocabulary.words, settings)
        frozen = begun & given.frozen
    keep = keep_chances(vocabulary.counts, settings.subsample)
    note_subsampling(vocabulary.counts, keep, settings.subsample)
    words = Words(keep, rows.starts, rows.rows, np.where(frozen, np.float32(0), rows.shares))
    learning = Word2VecTrainer(np.asarray(corpus.ids), words, network, vocabulary.counts, settings)
    if keeper.restored is not None:
        learning.restore(keeper.restored)
    learning.run(keeper, given.progress, given.on_loss)
    if not learning.losses[..., 1].any():
        raise InvalidArgumentError(
            "there is nothing to learn: no line has two words that stay; give longer lines,"
            " lower min_count or raise subsample"
        )
    return Trained(corpus, settings, network, rows, frozen, learning.epoch_losses())


def keeper_of(corpus: EncodedCorpus, settings: WordSettings, given: TrainOptions) -> Checkpointer:
    """Who keeps the checkpoints; where there are none, nobody looks through the corpus."""
    if given.checkpoint is None:
        return Checkpointer(None, RunFingerprint({}, ""), resume=given.resume)
    training = RunFingerprint.of(settings, corpus.ids, corpus.vocabulary)
    origin = origin_of(training, given.start, given.frozen)
    return Checkpointer(Path(given.checkpoint), origin, resume=given.resume)


def memory_of(rows: InputRows, ids: int, settings: WordSettings) -> int:
    """How many bytes a training takes.

    That is the network, what comes out of it, lists of rows, room for threads, and losses.
    """
    width = padded_width(settings.dim)
    numbers = (len(rows) + rows.words) * (width + settings.dim) + len(rows.rows)
    rooms = min(settings.threads, THREADS) * 2 * SENTENCE * width
    return 4 * (numbers + rooms) + 24 * rows.words + 16 * settings.epochs * (ids // PART + 1)
