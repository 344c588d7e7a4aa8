"""The methods of adaptation: each makes a trainer for an encoder and the documents of a domain."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Int64Array
from malmoi.encode.checkpoint.weights import open_weights, read_weights, weights_file
from malmoi.encode.encoder import TransformerEncoder
from malmoi.errors import InvalidArgumentError
from malmoi.files.tensors import Tensors
from malmoi.reporting.reporter import Reporter
from malmoi.tune.adapt.documents import Document
from malmoi.tune.adapt.masking import Passage
from malmoi.tune.adapt.objectives.contrastive import ContrastiveDocuments
from malmoi.tune.adapt.objectives.mlm import MaskedLanguageModel
from malmoi.tune.adapt.objectives.pairs import similar_batches
from malmoi.tune.adapt.objectives.prediction_head import PredictionHead, head_of
from malmoi.tune.adapt.objectives.tsdae import DenoisingAutoEncoder, TiedDecoder
from malmoi.tune.adapt.passages import (
    make_masking,
    make_passages,
    passage_batches,
    token_frequencies,
)
from malmoi.tune.adapt.settings import AdaptMethod, AdaptSettings
from malmoi.tune.adapt.trainer import CorpusBatch, CorpusObjective, CorpusTrainer
from malmoi.tune.network.sentence_network import SentenceNetwork

MAX_HELD_OUT_SHARE = 0.1  # of the documents


@dataclass(frozen=True, eq=False, kw_only=True)
class Preparation:
    """A trainer, the rows of the batches of an epoch, and passages that are held out."""

    trainer: CorpusTrainer
    rows: Callable[[int], list[Int64Array]]
    examples: int
    seed: int
    title: str
    held_out: Sequence[Passage] = ()
    head: PredictionHead | None = None

    def batches(self, epoch: int) -> list[CorpusBatch]:
        """The batches of an epoch."""
        each = enumerate(self.rows(epoch))
        return [CorpusBatch(rows, (self.seed, epoch, number)) for number, rows in each]

    def saved_head(self) -> Tensors:
        """The tensors of the head, to replace those of a checkpoint that has one."""
        if self.head is None:
            return {}
        tables = self.trainer.network.embeddings
        return self.head.tensors(tables["word_embeddings"].detach().numpy())


def prepare(
    encoder: TransformerEncoder,
    documents: Sequence[Document],
    settings: AdaptSettings,
    reporter: Reporter,
) -> Preparation:
    """Tokenize documents and make the trainer of the method in `settings`.

    Raises:
        InvalidArgumentError: The model cannot be adapted by this method, or no text has a word.
    """
    weights = read_weights(weights_file(encoder.modules.transformer), encoder.config)
    network = SentenceNetwork(
        weights,
        encoder.config,
        encoder.modules,
        freeze_layers=settings.freeze_layers,
        train_embeddings=settings.train_embeddings,
    )
    return METHODS[settings.method](encoder, network, documents, settings, reporter)


def _contrastive(
    encoder: TransformerEncoder,
    network: SentenceNetwork,
    documents: Sequence[Document],
    settings: AdaptSettings,
    reporter: Reporter,
) -> Preparation:
    objective = ContrastiveDocuments(encoder, network, documents, settings)
    vectors, size, group = (
        objective.document_vectors(reporter),
        settings.batch_size,
        settings.group,
    )
    return Preparation(
        trainer=CorpusTrainer(network, objective, settings.weight_decay),
        rows=lambda epoch: similar_batches(vectors, size, group, (settings.seed, epoch)),
        examples=len(documents),
        seed=settings.seed,
        title="pairs of a document and one of its sentences, or its title",
    )


def _mlm(
    encoder: TransformerEncoder,
    network: SentenceNetwork,
    documents: Sequence[Document],
    settings: AdaptSettings,
    reporter: Reporter,
) -> Preparation:
    masking = make_masking(encoder, settings.mask_share)
    passages, held_out = _split(encoder, documents, settings, reporter)
    head = _head(encoder, network, passages)
    objective = MaskedLanguageModel(network, head, masking, passages)
    return _prepared(network, objective, head, passages, held_out, settings)


def _tsdae(
    encoder: TransformerEncoder,
    network: SentenceNetwork,
    documents: Sequence[Document],
    settings: AdaptSettings,
    reporter: Reporter,
) -> Preparation:
    passages, held_out = _split(encoder, documents, settings, reporter)
    head = _head(encoder, network, passages)
    decoder = TiedDecoder(network, head, encoder.dim)
    objective = DenoisingAutoEncoder(network, decoder, settings.delete_share, passages)
    return _prepared(network, objective, head, passages, held_out, settings)


def _prepared(
    network: SentenceNetwork,
    objective: CorpusObjective,
    head: PredictionHead,
    passages: Sequence[Passage],
    held_out: Sequence[Passage],
    settings: AdaptSettings,
) -> Preparation:
    lengths = np.array([len(passage) for passage in passages], np.int64)
    size, seed = settings.batch_size, settings.seed
    return Preparation(
        trainer=CorpusTrainer(network, objective, settings.weight_decay),
        rows=lambda epoch: passage_batches(lengths, size, seed, epoch),
        examples=len(passages),
        seed=seed,
        title=f"{len(passages):,} passages to learn from",
        held_out=held_out,
        head=head if settings.method == "mlm" else None,
    )


def _split(
    encoder: TransformerEncoder,
    documents: Sequence[Document],
    settings: AdaptSettings,
    reporter: Reporter,
) -> tuple[list[Passage], list[Passage]]:
    """Passages to learn from, and those of documents that are held out."""
    count = max(1, min(settings.held_out, int(MAX_HELD_OUT_SHARE * len(documents))))
    order = np.random.default_rng(settings.seed).permutation(len(documents))
    parts = (np.sort(order[count:]), np.sort(order[:count]))
    learned, held_out = (
        make_passages(encoder, [documents[i] for i in rows], settings, reporter) for rows in parts
    )
    if not learned or not held_out:
        raise InvalidArgumentError(
            f"{encoder.name} has no tokens for these documents: choose another model"
        )
    return learned, held_out


def _head(
    encoder: TransformerEncoder, network: SentenceNetwork, passages: Sequence[Passage]
) -> PredictionHead:
    saved = open_weights(weights_file(encoder.modules.transformer))
    return head_of(network, saved, token_frequencies(passages, encoder.config.vocab_size))


Method = Callable[
    [TransformerEncoder, SentenceNetwork, Sequence[Document], AdaptSettings, Reporter], Preparation
]
METHODS: dict[AdaptMethod, Method] = {"contrastive": _contrastive, "mlm": _mlm, "tsdae": _tsdae}
