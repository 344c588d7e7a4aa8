"""fastText's model file, written so that fastText and gensim open it; see `fasttext_bin`."""

import json
import struct
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError
from malmoi.files.output import written
from malmoi.formats.text.text_output import check_keys
from malmoi.hangul import split_jamo
from malmoi.kernels.core.jit import fixed
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
SUPERVISED, SKIPGRAM, NEGATIVES = 3, 2, 2
BLOCK = 65536  # rows


def write(vectors: Vectors, path: Path, progress: Progress = no_progress) -> None:
    """A model that fastText and gensim open; plain vectors become one without n-grams.

    Hangul that is cut by its letters has its keys written by letters: fastText knows no others.
    """
    keys, own = vectors.keys, vectors.matrix
    blocks: Iterator[Float32Array] = iter(())
    if isinstance(vectors, SubwordVectors):
        keys, own = as_cut(vectors), vectors.word_rows
        refuse_pruned(vectors, keys)
        blocks = ngram_rows(vectors) if vectors.subwords.max_n > 0 else blocks
    check_keys(keys, b"\0", TITLE, empty=True)
    output = vectors.context_matrix
    if output is None or output.shape != own.shape:
        output = np.zeros_like(own)
    with written(path) as (file,):
        buckets = write_settings(vectors, file)
        write_dictionary(vectors, keys, file)
        write_matrix(file, (len(own) + buckets, vectors.dim), chain(in_blocks(own), blocks))
        write_matrix(file, output.shape, in_blocks(output))


def as_cut(vectors: SubwordVectors) -> Keys:
    """Keys whose n-grams, as fastText makes them, are those of the model."""
    refuse_units(vectors.subwords)
    if vectors.subwords.units == "jamo":
        return Keys.of(map(split_jamo, vectors.keys))
    return vectors.keys


def refuse_units(subwords: Subwords) -> None:
    """fastText cuts every word one way, so that syllables cannot be counted apart."""
    if subwords.units not in ("characters", "jamo"):
        raise InvalidArgumentError(
            f"{TITLE} has no place for n-grams of {subwords.units}: choose another format,"
            " such as .malmoi, or train with units='characters' or 'jamo'"
        )


def refuse_pruned(vectors: SubwordVectors, keys: Keys) -> None:
    """fastText reads no model of this kind in which n-grams of known words have no row."""
    if vectors.kept_buckets is None or vectors.subwords.max_n <= 0:
        return
    cut, has_row = vectors.subwords, np.zeros(vectors.subwords.buckets, np.bool_)
    has_row[vectors.kept_buckets] = True
    lengths = np.array([(cut.min_n, cut.max_n)] * len(keys), np.int32)
    ends, found = np.zeros(len(keys), np.int64), np.empty(0, np.int32)
    packed, offsets = fixed(keys.packed), fixed(keys.offsets)
    list_buckets(packed, offsets, lengths, cut.buckets, ends, found)
    found, ends = np.empty(ends.sum(), np.int32), np.cumsum(ends) - ends
    list_buckets(packed, offsets, lengths, cut.buckets, ends, found)
    if not has_row[found].all():
        raise InvalidArgumentError(
            f"{TITLE} has no place for a pruned model's n-grams:"
            " choose another format, such as .malmoi"
        )


def ngram_rows(vectors: SubwordVectors) -> Iterator[Float32Array]:
    """A row for every bucket; 0 for those that no known word has, so that they say nothing."""
    if vectors.kept_buckets is None:
        yield from in_blocks(vectors.bucket_rows)
        return
    buckets, kept = vectors.subwords.buckets, vectors.kept_buckets
    for first in range(0, buckets, BLOCK):
        block = np.zeros((min(BLOCK, buckets - first), vectors.dim), np.float32)
        start, stop = np.searchsorted(kept, (first, first + len(block)))
        block[kept[start:stop] - first] = vectors.bucket_rows[start:stop]
        yield block


def write_settings(vectors: Vectors, file: BinaryIO) -> int:
    """The settings the model came with, where it came with any; returns how many buckets it has."""
    settings = DEFAULTS | json.loads(vectors.meta.get("fasttext", "{}")) | {"dim": vectors.dim}
    settings |= {"bucket": 0, "minn": 0, "maxn": 0}
    if isinstance(vectors, SubwordVectors) and vectors.subwords.max_n > 0:
        cut = vectors.subwords
        settings |= {"bucket": cut.buckets, "minn": cut.min_n, "maxn": cut.max_n}
    if settings["model"] == SUPERVISED:  # its labels are not part of the vectors
        settings |= {"model": SKIPGRAM, "loss": NEGATIVES}
    numbers = [settings[name] for name in SETTINGS]
    file.write(struct.pack("<14id", MAGIC, VERSION, *numbers, settings["t"]))
    return int(settings["bucket"])


def write_dictionary(vectors: Vectors, keys: Keys, file: BinaryIO) -> None:
    """Words and counts; where nobody counted, falling ones that keep the order."""
    rows = len(keys)
    counts = np.arange(rows, 0, -1) if vectors.counts is None else vectors.counts
    file.write(struct.pack("<3i2q", rows, rows, 0, int(counts.sum()), -1))
    encoding = vectors.subwords.encoding if isinstance(vectors, SubwordVectors) else "utf-8"
    for word, count in zip(keys, counts.tolist(), strict=True):
        file.write(word.encode(encoding, "surrogateescape") + struct.pack("<xqb", count, 0))


def write_matrix(file: BinaryIO, shape: tuple[int, ...], blocks: Iterable[Float32Array]) -> None:
    """Blocks of rows as one matrix."""
    file.write(struct.pack("<?2q", False, *shape))
    for block in blocks:
        file.write(np.ascontiguousarray(block, dtype="<f4").data)


def in_blocks(matrix: Float32Array) -> Iterator[Float32Array]:
    """Some rows at a time."""
    for first in range(0, len(matrix), BLOCK):
        yield matrix[first : first + BLOCK]
