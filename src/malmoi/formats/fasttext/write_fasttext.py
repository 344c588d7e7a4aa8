"""Writes fastText's model file, for fastText and gensim; `fasttext_model` describes it."""

import json
import struct
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError
from malmoi.files.output import open_output
from malmoi.formats.text.text_output import check_keys
from malmoi.hangul import split_jamo
from malmoi.kernels.core.jit import readonly_view
from malmoi.kernels.word2vec.subword_rows import list_buckets
from malmoi.keys import Keys
from malmoi.reporting.reporter import Progress, no_progress
from malmoi.subwords import Subwords, SubwordVectors
from malmoi.vectors import Vectors

TITLE = "fastText .bin"
MAGIC, VERSION = 793712314, 12
SETTINGS = ("dim", "ws", "epoch", "minCount", "neg", "wordNgrams", "loss", "model",
            "bucket", "minn", "maxn", "lrUpdateRate")  # fmt: skip
SETTINGS_LAYOUT = "<12id"  # and the sampling threshold
DEFAULTS = {"ws": 5, "epoch": 5, "minCount": 1, "neg": 5, "wordNgrams": 1, "loss": 2, "model": 2,
            "lrUpdateRate": 100, "t": 1e-4}  # fmt: skip
SUPERVISED, SKIPGRAM, NEGATIVE_SAMPLING = 3, 2, 2
BLOCK_ROWS = 65536


def write(vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
    """Write a model for fastText and gensim; plain vectors become one without n-grams.

    A model with n-grams of jamo is written with keys of jamo, so that fastText makes the same
    n-grams.
    """
    keys, own = vectors.keys, vectors.matrix
    blocks: Iterator[Float32Array] = iter(())
    if isinstance(vectors, SubwordVectors):
        keys, own = fasttext_keys(vectors), vectors.word_rows
        check_ngram_rows(vectors, keys)
        blocks = ngram_rows(vectors) if vectors.subwords.max_n > 0 else blocks
    check_keys(keys, b"\0", TITLE, empty=True)
    output = vectors.context_matrix
    if output is None or output.shape != own.shape:
        output = np.zeros_like(own)
    with open_output(path) as (file,):
        buckets = write_settings(vectors, file)
        write_dictionary(vectors, keys, file)
        write_matrix(file, (len(own) + buckets, vectors.dim), chain(in_blocks(own), blocks))
        write_matrix(file, output.shape, in_blocks(output))


def fasttext_keys(vectors: SubwordVectors) -> Keys:
    """Keys from which fastText makes the same n-grams as the model."""
    check_units(vectors.subwords)
    if vectors.subwords.units == "jamo":
        return Keys.of(map(split_jamo, vectors.keys))
    return vectors.keys


def check_units(subwords: Subwords) -> None:
    """Raise `InvalidArgumentError` for n-grams of syllables, which fastText does not have."""
    if subwords.units not in ("characters", "jamo"):
        raise InvalidArgumentError(
            f"{TITLE} cannot hold n-grams of {subwords.units}: choose another format,"
            " such as .malmoi, or train with units of characters or jamo"
        )


def check_ngram_rows(vectors: SubwordVectors, keys: Keys) -> None:
    """Raise `InvalidArgumentError` if n-grams of known words have no row (a pruned model)."""
    if vectors.kept_buckets is None or vectors.subwords.max_n <= 0:
        return
    subwords, has_row = vectors.subwords, np.zeros(vectors.subwords.buckets, np.bool_)
    has_row[vectors.kept_buckets] = True
    lengths = np.array([(subwords.min_n, subwords.max_n)] * len(keys), np.int32)
    ends, ngram_buckets = np.zeros(len(keys), np.int64), np.empty(0, np.int32)
    packed, offsets = readonly_view(keys.packed), readonly_view(keys.offsets)
    list_buckets(packed, offsets, lengths, subwords.buckets, ends, ngram_buckets)
    ngram_buckets, ends = np.empty(ends.sum(), np.int32), np.cumsum(ends) - ends
    list_buckets(packed, offsets, lengths, subwords.buckets, ends, ngram_buckets)
    if not has_row[ngram_buckets].all():
        raise InvalidArgumentError(
            f"{TITLE} cannot hold the n-grams of a pruned model:"
            " choose another format, such as .malmoi"
        )


def ngram_rows(vectors: SubwordVectors) -> Iterator[Float32Array]:
    """One row per bucket; zeros for buckets without n-grams of known words."""
    if vectors.kept_buckets is None:
        yield from in_blocks(vectors.bucket_rows)
        return
    buckets, kept = vectors.subwords.buckets, vectors.kept_buckets
    for first in range(0, buckets, BLOCK_ROWS):
        block = np.zeros((min(BLOCK_ROWS, buckets - first), vectors.dim), np.float32)
        start, stop = np.searchsorted(kept, (first, first + len(block)))
        block[kept[start:stop] - first] = vectors.bucket_rows[start:stop]
        yield block


def write_settings(vectors: Vectors, file: BinaryIO) -> int:
    """Write the settings the model was loaded with, if any; returns the number of buckets."""
    settings = DEFAULTS | json.loads(vectors.meta.get("fasttext", "{}")) | {"dim": vectors.dim}
    settings |= {"bucket": 0, "minn": 0, "maxn": 0}
    if isinstance(vectors, SubwordVectors) and vectors.subwords.max_n > 0:
        subwords = vectors.subwords
        settings |= {
            "bucket": subwords.buckets,
            "minn": subwords.min_n,
            "maxn": subwords.max_n,
        }
    if settings["model"] == SUPERVISED:  # vectors have no labels
        settings |= {"model": SKIPGRAM, "loss": NEGATIVE_SAMPLING}
    numbers = [settings[name] for name in SETTINGS]
    file.write(struct.pack("<14id", MAGIC, VERSION, *numbers, settings["t"]))
    return int(settings["bucket"])


def write_dictionary(vectors: Vectors, keys: Keys, file: BinaryIO) -> None:
    """Write words and counts; without counts, falling numbers that preserve the order."""
    rows = len(keys)
    counts = np.arange(rows, 0, -1) if vectors.counts is None else vectors.counts
    file.write(struct.pack("<3i2q", rows, rows, 0, int(counts.sum()), -1))
    encoding = vectors.subwords.encoding if isinstance(vectors, SubwordVectors) else "utf-8"
    for word, count in zip(keys, counts.tolist(), strict=True):
        file.write(word.encode(encoding, "surrogateescape") + struct.pack("<xqb", count, 0))


def write_matrix(file: BinaryIO, shape: tuple[int, ...], blocks: Iterable[Float32Array]) -> None:
    """Write blocks of rows as one matrix."""
    file.write(struct.pack("<?2q", False, *shape))
    for block in blocks:
        file.write(np.ascontiguousarray(block, dtype="<f4").data)


def in_blocks(matrix: Float32Array) -> Iterator[Float32Array]:
    """Blocks of rows of a matrix."""
    for first in range(0, len(matrix), BLOCK_ROWS):
        yield matrix[first : first + BLOCK_ROWS]
