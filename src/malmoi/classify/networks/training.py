"""Trains a network on embeddings of the units of labelled texts, and calibrates it."""

from functools import partial

import numpy as np
import torch

from malmoi.arrays import Float32Array, Int64Array
from malmoi.classify.base.outputs import Outputs, calibrated, calibration_rows, common_fields
from malmoi.classify.networks.losses import ClassLoss, DevLoss
from malmoi.classify.networks.network import EmbeddingNetwork
from malmoi.classify.networks.network_classifier import NetworkClassifier
from malmoi.classify.networks.settings import EmbeddingClassifier, NetworkShape
from malmoi.classify.networks.trainer import NetworkTrainer, network_scores, shuffled_batches
from malmoi.classify.networks.units import FIRST_ROW, EmbeddingUnits
from malmoi.encode.static.words import choose_tokenizer
from malmoi.evaluate.scores import seeded_generator
from malmoi.files.checkpoint import Checkpointer, RunFingerprint
from malmoi.formats import load
from malmoi.keys import Keys
from malmoi.models.nnlm_network import repeatable
from malmoi.query.matrix import embedding_matrix
from malmoi.reporting.reporter import Reporter
from malmoi.text.tokenizers import English, Tokenizer, make_tokenizer
from malmoi.train.common.loop import TrainingLoop
from malmoi.tune.data.labelled_set import LabelledSet
from malmoi.tune.network.linear import has_bfloat16, multiply_in_bfloat16
from malmoi.vectors import Vectors

SPREAD = 0.03  # standard deviation of embeddings that are not pretrained
ROWS_FACTOR = 5.0  # of the learning rate, for them: most occur in few batches
MIN_COUNT = 2  # of units without pretrained vectors


def fit_embedding(
    data: LabelledSet, settings: EmbeddingClassifier, reporter: Reporter
) -> NetworkClassifier:
    """A network of all these texts; some end the training in time, and calibrate it."""
    outputs, held_out = Outputs.of(data), calibration_rows(data, settings)
    chosen = np.delete(np.arange(len(data)), held_out)
    vectors = load(settings.vectors, reporter=reporter) if settings.vectors else None
    units, table = _embedding([data.texts[i] for i in chosen], settings, vectors, reporter)
    shape = NetworkShape(
        network=settings.network,
        rows=len(table),
        dim=table.shape[1],
        hidden=settings.hidden,
        outputs=outputs.num_outputs,
        max_length=settings.max_length,
    )
    with repeatable(settings.seed, settings.threads):
        network = EmbeddingNetwork(shape, settings.dropout)
        network.embedding.data.copy_(torch.from_numpy(table))
        network.embedding.requires_grad_(settings.train_vectors)
        if has_bfloat16():
            multiply_in_bfloat16(network)
        texts, targets = units.ids(data.texts), outputs.targets()
        balanced = targets[chosen] if settings.balanced else None
        loss = ClassLoss(softmax=outputs.softmax, balanced=balanced)
        trainer = NetworkTrainer(
            network,
            loss,
            texts,
            targets.astype(np.float32),
            weight_decay=settings.weight_decay,
            rows_factor=ROWS_FACTOR if vectors is None else 1.0,
        )
        held = [texts[i] for i in held_out]
        dev = DevLoss(lambda: network_scores(network, held), targets[held_out], outputs.softmax)
        _run(trainer, chosen, settings.for_texts(len(chosen)), reporter, dev=dev if held else None)
    weights = {name: w.detach().numpy().copy() for name, w in network.named_parameters()}
    common = common_fields(data, softmax=outputs.softmax)
    classifier = NetworkClassifier(units=units, shape=shape, weights=weights, **common._asdict())
    return calibrated(classifier, data, outputs, held_out)


def _run(
    trainer: NetworkTrainer,
    rows: Int64Array,
    settings: EmbeddingClassifier,
    reporter: Reporter,
    *,
    dev: DevLoss | None,
) -> None:
    """Train on these texts over all epochs; the trainer then has the best weights."""
    lengths = np.array([len(text) for text in trainer.texts])
    TrainingLoop(
        trainer=trainer,
        epoch_batches=lambda epoch: shuffled_batches(
            lengths, rows, settings.batch_size, (settings.seed, epoch)
        ),
        examples=len(rows),
        settings=settings,
        checkpointer=Checkpointer(None, RunFingerprint({}, ""), resume=False),
        reporter=reporter,
        dev=dev,
        name="training",
        unit="texts",
    ).run()


def _embedding(
    texts: list[str], settings: EmbeddingClassifier, vectors: Vectors | None, reporter: Reporter
) -> tuple[EmbeddingUnits, Float32Array]:
    """The units of texts and their first embeddings [rows, dim]."""
    tokenizer = _tokenizer(settings, vectors)
    kind, length, order = settings.unit_kind, settings.max_length, settings.ngram_length
    vocabulary = EmbeddingUnits(kind, length, order, tokenizer).counted(
        texts,
        min_count=settings.min_count or (MIN_COUNT if vectors is None else 1),
        size=settings.max_vocab_size,
    )
    words = partial(EmbeddingUnits, kind, length, order, tokenizer)
    if vectors is None:
        return words(vocabulary.words), _random_rows(len(vocabulary), settings)
    index = vocabulary.word_index(start=FIRST_ROW)
    matrix, report = embedding_matrix(vectors, index, missing="random", seed=settings.seed)
    if not report.with_row and not report.from_subwords:
        reporter.warn(f"no word of the texts has a vector in {settings.vectors}")
    # Other words that have vectors may occur in texts to classify.
    known, room = set(index), settings.max_vocab_size - len(index)
    others = [row for row, word in enumerate(vectors.keys) if word not in known][: max(room, 0)]
    keys = Keys.of([*vocabulary.words, *(vectors.keys[row] for row in others)])
    return words(keys), np.concatenate([matrix, vectors.matrix[others].astype(np.float32)])


def _tokenizer(settings: EmbeddingClassifier, vectors: Vectors | None) -> Tokenizer | None:
    """What splits words: that of the settings, of the vectors, or words and marks."""
    if settings.unit_kind != "words":
        return None
    if vectors is not None:
        return choose_tokenizer(vectors, settings.tokenizer or None)
    return make_tokenizer(settings.tokenizer) if settings.tokenizer else English(marks=True)


def _random_rows(count: int, settings: EmbeddingClassifier) -> Float32Array:
    random = seeded_generator(settings.seed)
    rows = random.normal(0, SPREAD, (count + FIRST_ROW, settings.dim)).astype(np.float32)
    rows[:FIRST_ROW] = 0  # of padding and of unknown units
    return rows
