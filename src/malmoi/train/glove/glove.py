"""GloVe: word vectors whose dot products approximate the logarithms of co-occurrences.

Pennington, Socher, Manning: GloVe: Global Vectors for Word Representation (EMNLP 2014), with the
update rule of their program.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from malmoi.arguments import settings_or_default
from malmoi.errors import InvalidArgumentError
from malmoi.keys import Keys
from malmoi.models.cooccurrences import Cooccurrences, is_cooccurrences, load_cooccurrences
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.text.tokenizers import Tokenizer
from malmoi.train.common.inputs import TextInput, encode_text
from malmoi.train.common.memory import require_memory
from malmoi.train.common.options import (
    DEFAULT_OPTIONS,
    TrainOptions,
    expect_options,
    open_checkpointer,
)
from malmoi.train.counts.cooccurrence import count_cooccurrences
from malmoi.train.glove.records import make_records
from malmoi.train.glove.settings import GloVe
from malmoi.train.glove.tables import (
    GloVeTables,
    copy_init_vectors,
    random_tables,
    restore_frozen,
    row_bytes,
    split_tables,
)
from malmoi.train.glove.trainer import GloVeTrainer, memory_needed
from malmoi.vectors import Vectors
from malmoi.vocabulary import by_frequency


def train_glove(
    text: TextInput | Cooccurrences,
    settings: GloVe | None = None,
    *,
    tokenizer: Tokenizer | str | None = None,
    options: TrainOptions = DEFAULT_OPTIONS,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Vectors:
    """Train word vectors with GloVe on a text, or on co-occurrences that were counted before.

    Args:
        text: Path of a file or folder, documents as strings, a `Corpus` or an `EncodedCorpus`; or
            `Cooccurrences`, or the path of their file.
        settings: How to train; the defaults of `GloVe` if not given.
        tokenizer: A tokenizer or its name, such as "korean"; splits at white space if not given.
        options: Initial vectors, checkpoints to resume from, and a callback per iteration.
        reporter: Receives progress in records, the loss of each iteration (J divided by the
            number of records), the memory needed, and warnings.

    Returns:
        One vector per word, most frequent words first. With `options.update` the words of
        `init_vectors` that the text lacks keep their vectors.

    Raises:
        InvalidArgumentError: The settings do not fit the text, the initial vectors or the memory,
            or the training diverges.
        InvalidFileError: The text, the co-occurrences or the checkpoint cannot be read.
    """
    expect_reporter(reporter)
    expect_options(options)
    settings = settings_or_default(settings, GloVe)
    counts, tokenizer_name = read_cooccurrences(text, settings, tokenizer, reporter)

    def make_vectors(tables: GloVeTables) -> Vectors:
        vectors, init_vectors = tables.vectors(settings.vectors), options.init_vectors
        if init_vectors is not None and options.freeze:
            restore_frozen(vectors, init_vectors, options.is_frozen(vectors.keys))
        if init_vectors is not None and options.update:
            vectors = merge_vectors(vectors, init_vectors)
        return vectors.with_meta(tokenizer=tokenizer_name) if tokenizer_name else vectors

    return make_vectors(
        train_glove_tables(
            counts, settings, options=options, reporter=reporter, make_vectors=make_vectors
        )
    )


def train_glove_tables(
    counts: Cooccurrences,
    settings: GloVe | None = None,
    *,
    options: TrainOptions = DEFAULT_OPTIONS,
    reporter: Reporter = DEFAULT_REPORTER,
    make_vectors: Callable[[GloVeTables], Vectors] = GloVeTables.vectors,
) -> GloVeTables:
    """Train GloVe and return word vectors, context vectors and biases; see `train_glove`.

    `make_vectors` makes the vectors that `options.on_epoch_end` is called with.
    """
    settings = settings_or_default(settings, GloVe)
    check_trainable(counts, settings, options.init_vectors, reporter)
    require_memory(memory_needed(counts, settings.dim), reporter)
    checkpointer = open_checkpointer(options, settings, counts.values, counts.vocabulary)
    records = make_records(
        counts,
        settings.x_max,
        settings.alpha,
        plus_one=settings.logarithm == "1+x",
        row_bytes=row_bytes(settings.dim),
    )
    tables = random_tables(len(counts.vocabulary), settings.dim, settings.seed)
    if options.init_vectors is not None:
        copy_init_vectors(
            options.init_vectors,
            tables,
            counts,
            settings.vectors,
            frozen=options.is_frozen(counts.vocabulary.words),
            reporter=reporter,
        )
    trainer = GloVeTrainer(
        records,
        tables,
        learning_rate=settings.learning_rate,
        iterations=settings.iterations,
        seed=settings.seed,
        threads=settings.threads,
    )

    def tables_so_far() -> GloVeTables:
        return split_tables(tables, counts.vocabulary, settings.dim, trainer.epoch_losses())

    trainer.run(checkpointer, reporter, options.on_epoch_end, lambda: make_vectors(tables_so_far()))
    return tables_so_far()


def read_cooccurrences(
    text: TextInput | Cooccurrences,
    settings: GloVe,
    tokenizer: Tokenizer | str | None,
    reporter: Reporter,
) -> tuple[Cooccurrences, str]:
    """Co-occurrences of a text, or as they were saved, and the text's tokenizer if it is known."""
    if isinstance(text, Cooccurrences):
        return text, ""
    if isinstance(text, str | Path) and is_cooccurrences(text):
        return load_cooccurrences(text), ""
    corpus = encode_text(text, settings.vocabulary, tokenizer, reporter)
    return count_cooccurrences(corpus, settings.counting, reporter=reporter), corpus.tokenizer


def check_trainable(
    counts: Cooccurrences, settings: GloVe, init_vectors: Vectors | None, reporter: Reporter
) -> None:
    """Raise `InvalidArgumentError` for what cannot be trained; warn about words that are not."""
    if len(counts.vocabulary) < 2 or not len(counts):
        raise InvalidArgumentError(
            f"none of the {len(counts.vocabulary):,} words has another word in its window: give"
            " more text, or lower min_count"
        )
    dim = settings.dim * (2 if settings.vectors == "both" else 1)
    if init_vectors is not None and init_vectors.dim != dim:
        raise InvalidArgumentError(
            f"init_vectors have {init_vectors.dim} dimensions and the new vectors {dim}:"
            " choose a dim that fits"
        )
    isolated = np.diff(counts.starts) == 0
    if isolated.any() and (isolated := isolated & (counts.context_totals == 0)).any():
        reporter.warn(
            f"words without any co-occurrence, whose vectors are not trained: {isolated.sum():,}"
        )


def merge_vectors(new: Vectors, old: Vectors) -> Vectors:
    """The new vectors, and the old ones of words that have no new one.

    If both have counts, the counts are added and words sorted by them; otherwise the old words
    follow the new ones.
    """
    new_rows = new.keys.find_all(old.keys)
    only_old = np.flatnonzero(new_rows < 0)
    keys = Keys.of([*new.keys, *old.keys.take(only_old)])
    matrix = np.concatenate([new.matrix, old.matrix[only_old]])
    order, counts, contexts = np.arange(len(keys)), None, None
    if new.counts is not None and old.counts is not None:
        counts = np.concatenate([new.counts, old.counts[only_old]])
        counts[new_rows[new_rows >= 0]] += old.counts[new_rows >= 0]
        order = by_frequency(keys, counts)
    if new.context_matrix is not None and old.context_matrix is not None:
        contexts = np.concatenate([new.context_matrix, old.context_matrix[only_old]])[order]
    return replace(
        new,
        keys=keys.take(order),
        matrix=matrix[order],
        counts=None if counts is None else counts[order],
        context_matrix=contexts,
    )
