"""fastText's model file, written so that fastText and gensim open it; see `fasttext_bin`."""

import json
import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np

from malmoi.errors import BadSetting
from malmoi.files.output import written
from malmoi.files.progress import Progress, silent
from malmoi.formats.text_output import check_keys
from malmoi.subwords import SubwordVectors
from malmoi.vectors import Matrix, Vectors

TITLE = "fastText .bin"
MAGIC, VERSION = 793712314, 12
SETTINGS = ("dim", "ws", "epoch", "minCount", "neg", "wordNgrams", "loss", "model",
            "bucket", "minn", "maxn", "lrUpdateRate")  # fmt: skip
SETTINGS_LAYOUT = "<12id"  # and the sampling threshold
DEFAULTS = {"ws": 5, "epoch": 5, "minCount": 1, "neg": 5, "wordNgrams": 1, "loss": 2, "model": 2,
            "lrUpdateRate": 100, "t": 1e-4}  # fmt: skip
SUPERVISED, SKIPGRAM, NEGATIVES = 3, 2, 2


def write(vectors: Vectors, path: Path, progress: Progress = silent) -> None:
    """A model that fastText and gensim open; plain vectors become one without n-grams."""
    check_keys(vectors.keys, b"\0", TITLE, empty=True)
    if isinstance(vectors, SubwordVectors) and vectors.kept is not None:
        raise BadSetting(
            f"{TITLE} has no place for a pruned model's n-grams:"
            " choose another format, such as .malmoi"
        )
    with written(path) as (file,):
        write_settings(vectors, file)
        write_dictionary(vectors, file)
        own, ngrams, output = vectors.matrix, vectors.matrix[:0], None
        if isinstance(vectors, SubwordVectors):
            own, ngrams, output = vectors.own, vectors.ngrams, vectors.output
        if output is None or output.shape != own.shape:
            output = np.zeros_like(own)
        write_matrix(file, own, ngrams)
        write_matrix(file, output)


def write_settings(vectors: Vectors, file: BinaryIO) -> None:
    """The settings the model came with, where it came with any."""
    settings = DEFAULTS | json.loads(vectors.meta.get("fasttext", "{}")) | {"dim": vectors.dim}
    settings |= {"bucket": 0, "minn": 0, "maxn": 0}
    if isinstance(vectors, SubwordVectors):
        cut = vectors.subwords
        settings |= {"bucket": cut.buckets, "minn": cut.shortest, "maxn": cut.longest}
    if settings["model"] == SUPERVISED:  # its labels are not part of the vectors
        settings |= {"model": SKIPGRAM, "loss": NEGATIVES}
    numbers = [settings[name] for name in SETTINGS]
    file.write(struct.pack("<14id", MAGIC, VERSION, *numbers, settings["t"]))


def write_dictionary(vectors: Vectors, file: BinaryIO) -> None:
    """Words and counts; where nobody counted, falling ones that keep the order."""
    rows = len(vectors)
    counts = np.arange(rows, 0, -1) if vectors.counts is None else vectors.counts
    file.write(struct.pack("<3i2q", rows, rows, 0, int(counts.sum()), -1))
    encoding = vectors.subwords.encoding if isinstance(vectors, SubwordVectors) else "utf-8"
    for word, count in zip(vectors.keys, counts.tolist(), strict=True):
        file.write(word.encode(encoding, "surrogateescape") + struct.pack("<xqb", count, 0))


def write_matrix(file: BinaryIO, *parts: Matrix) -> None:
    """Rows of several arrays as one matrix."""
    file.write(struct.pack("<?2q", False, sum(map(len, parts)), parts[0].shape[1]))
    for part in parts:
        for first in range(0, len(part), 65536):
            file.write(np.ascontiguousarray(part[first : first + 65536], dtype="<f4").tobytes())
