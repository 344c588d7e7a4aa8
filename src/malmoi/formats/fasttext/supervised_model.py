"""fastText's supervised models: the words, labels and matrices that classify a text.

The file is that of `fasttext_model`, .bin or .ftz; its output matrix has one row per label, or one
per inner node of the Huffman tree of the labels (hierarchical softmax).
"""

from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.errors import InvalidFileError
from malmoi.files.source import InputFile
from malmoi.formats.fasttext.byte_cursor import Cursor
from malmoi.formats.fasttext.fasttext_model import (
    has_magic,
    matches,
    read_dictionary,
    read_input,
    read_matrix,
    read_settings,
    sorted_ngrams,
)
from malmoi.formats.fasttext.write_fasttext import SUPERVISED
from malmoi.keys import Keys

LOSSES = {1: "hierarchical softmax", 2: "negative sampling", 3: "softmax", 4: "one versus all"}
PREFIX = "__label__"


@dataclass(frozen=True, eq=False)
class SupervisedModel:
    """The parts of a supervised model; `kept` are the buckets with a row in a pruned one."""

    words: Keys
    labels: tuple[str, ...]
    label_counts: Int64Array
    word_rows: Float32Array  # [words, dim]
    bucket_rows: Float32Array  # [buckets, dim]
    kept: Int32Array | None
    output: Float32Array  # [labels, dim]
    loss: str
    buckets: int
    min_n: int
    max_n: int
    word_ngrams: int


def is_supervised(source: InputFile) -> bool:
    """Whether a file is a supervised model."""
    if not matches(source):
        return False
    settings = read_settings(Cursor(source.mapped, source.path), not has_magic(source.head))
    return settings["model"] == SUPERVISED


def read_supervised(source: InputFile) -> SupervisedModel:
    """Read a supervised model.

    Raises:
        InvalidFileError: The file is damaged, or holds word vectors alone.
    """
    cursor, first_release = Cursor(source.mapped, source.path), not has_magic(source.head)
    settings = read_settings(cursor, first_release)
    if settings["model"] != SUPERVISED or settings["loss"] not in LOSSES:
        raise InvalidFileError(
            f"{source.path} is a model of word vectors, which has no labels: name a supervised one"
        )
    words = read_dictionary(cursor, first_release)
    own, ngrams = read_input(cursor, dict(settings), words, first_release)
    ngrams, kept = sorted_ngrams(ngrams, words.buckets)
    output = read_matrix(cursor, first_release)
    rows = len(words.labels)
    if rows < 1 or output.shape != (rows, settings["dim"]):
        raise InvalidFileError(
            f"{source.path} has an output matrix of {output.shape} for {rows} labels: it is damaged"
        )
    names = (words.labels.bytes_at(i).decode("utf-8", "replace") for i in range(rows))
    return SupervisedModel(
        words=words.keys,
        labels=tuple(name.removeprefix(PREFIX) for name in names),
        label_counts=np.asarray(words.label_counts),
        word_rows=own,
        bucket_rows=ngrams,
        kept=kept,
        output=np.asarray(output, np.float32),
        loss=LOSSES[int(settings["loss"])],
        buckets=int(settings["bucket"]),
        min_n=int(settings["minn"]),
        max_n=int(settings["maxn"]),
        word_ngrams=int(settings["wordNgrams"]),
    )
