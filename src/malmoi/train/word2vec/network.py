"""From a corpus and settings to a trained network: what Word2Vec and FastText share."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.threads import THREADS
from malmoi.kernels.word2vec.rows import aligned_rows, padded_width
from malmoi.kernels.word2vec.train_words import MAX_SENTENCE_WORDS, WordNetwork, Words
from malmoi.keys import Keys
from malmoi.reporting.reporter import Reporter
from malmoi.text.encoded import EncodedCorpus
from malmoi.train.common.memory import require_memory
from malmoi.train.common.options import TrainOptions, open_checkpointer
from malmoi.train.word2vec.initialization import (
    check_trainable,
    copy_init_vectors,
    merge_vocabulary,
    random_rows,
)
from malmoi.train.word2vec.input_rows import InputRows
from malmoi.train.word2vec.settings import WordSettings
from malmoi.train.word2vec.trainer import (
    CHUNK_TOKENS,
    Word2VecTrainer,
    keep_probabilities,
    warn_subsampling,
)
from malmoi.vectors import Vectors

AnyVectors = TypeVar("AnyVectors", bound=Vectors)


class NoTrainingPairsError(InvalidArgumentError):
    """No line of a text keeps two words."""


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """A network that was trained on a corpus."""

    corpus: EncodedCorpus
    settings: WordSettings
    network: WordNetwork
    rows: InputRows
    frozen: npt.NDArray[np.bool_]  # [words]
    losses: tuple[float | None, ...]  # per epoch

    @property
    def inputs(self) -> Float32Array:
        """The input rows of words and n-grams [rows, dim], without padding."""
        return np.ascontiguousarray(self.network.inputs[:, : self.settings.dim])

    @property
    def context_matrix(self) -> Float32Array:
        """The output rows [words, dim]: of words, or of the inner nodes of the Huffman tree."""
        return np.ascontiguousarray(self.network.outputs[:, : self.settings.dim])

    @property
    def metadata(self) -> dict[str, str]:
        """How the vectors were made, for their file."""
        return {
            "method": type(self.settings).__name__.lower(),
            "tokenizer": self.corpus.tokenizer,
            "settings": json.dumps(
                asdict(self.settings), default=np.generic.item
            ),  # NumPy's numbers too
            "losses": json.dumps(self.losses),
        }


def train_network(
    corpus: EncodedCorpus,
    settings: WordSettings,
    input_rows: Callable[[Keys], InputRows],
    options: TrainOptions,
    reporter: Reporter,
    make_vectors: Callable[[TrainedNetwork], AnyVectors],
) -> AnyVectors:
    """Train a network on a corpus; `input_rows` are the rows of each word."""
    init_vectors = options.init_vectors
    if options.update and init_vectors is not None:
        corpus = merge_vocabulary(init_vectors, corpus, reporter)
    check_trainable(corpus, settings, init_vectors)
    vocabulary, dim = corpus.vocabulary, settings.dim
    rows = input_rows(vocabulary.words)
    require_memory(memory_needed(rows, len(corpus.ids), settings), reporter)
    checkpointer = open_checkpointer(options, settings, corpus.ids, vocabulary)
    network = WordNetwork(
        random_rows(len(rows), dim, settings.seed), aligned_rows(rows.words, padded_width(dim))
    )
    frozen = np.zeros(rows.words, np.bool_)
    if init_vectors is not None:
        known = copy_init_vectors(init_vectors, network, rows, vocabulary, settings, reporter)
        frozen = known & options.is_frozen(vocabulary.words)
    keep = keep_probabilities(vocabulary.counts, settings.subsample)
    warn_subsampling(vocabulary.counts, keep, settings.subsample, reporter)
    words = Words(keep, rows.starts, rows.rows, np.where(frozen, np.float32(0), rows.shares))
    trainer = Word2VecTrainer(np.asarray(corpus.ids), words, network, vocabulary.counts, settings)

    def vectors_so_far() -> AnyVectors:  # with its own rows: the training goes on
        copied = WordNetwork(network.inputs.copy(), network.outputs.copy())
        losses = trainer.epoch_losses()
        return make_vectors(TrainedNetwork(corpus, settings, copied, rows, frozen, losses))

    trainer.run(checkpointer, reporter, options.on_epoch_end, vectors_so_far)
    if not trainer.losses[: trainer.finished_epochs, :, 1].any():
        raise NoTrainingPairsError(
            "there are no training pairs: no line keeps two words; give longer lines, lower"
            " min_count or raise subsample"
        )
    losses = trainer.epoch_losses()
    return make_vectors(TrainedNetwork(corpus, settings, network, rows, frozen, losses))


def memory_needed(rows: InputRows, num_ids: int, settings: WordSettings) -> int:
    """Bytes for the network, its unpadded copy, lists of rows, workspaces of threads, losses."""
    width = padded_width(settings.dim)
    numbers = (len(rows) + rows.words) * (width + settings.dim) + len(rows.rows)
    workspaces = min(settings.threads, THREADS) * 2 * MAX_SENTENCE_WORDS * width
    losses = 16 * settings.epochs * (num_ids // CHUNK_TOKENS + 1)
    return 4 * (numbers + workspaces) + 24 * rows.words + losses
