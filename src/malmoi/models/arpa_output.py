"""Writes n-gram models as ARPA files; `models.arpa` describes the format and reads it.

Models without back-off are converted to equivalent back-off models.
"""

from typing import BinaryIO

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.errors import InvalidArgumentError
from malmoi.keys import Keys
from malmoi.models.arpa import LOG_OF_ZERO, SPACES
from malmoi.models.ngram_model import NgramModel

BLOCK_NGRAMS = 1 << 16  # n-grams formatted and written at a time


def write_arpa(model: NgramModel, stream: BinaryIO) -> None:
    """Write a model as an ARPA file.

    Raises:
        InvalidArgumentError: a word is empty or contains white space.
    """
    check_words(model.trie.words)
    model = to_backoff_model(model)
    sizes = model.trie.sizes
    stream.write(b"\\data\\\n")
    stream.writelines(b"ngram %d=%d\n" % item for item in enumerate(sizes, 1))
    words = np.array([*map(model.trie.words.bytes_at, range(sizes[0]))], dtype=object)
    for order, size in enumerate(sizes, 1):
        columns = [log10(model.probabilities[order - 1])]
        line = b"%.9g\t" + b" ".join([b"%b"] * order) + b"\n"
        if order < model.order:
            columns.append(log10(model.backoffs[order - 1]))
            line = line.replace(b"\n", b"\t%.9g\n")
        stream.write(b"\n\\%d-grams:\n" % order)
        for first in range(0, size, BLOCK_NGRAMS):
            rows = np.arange(first, min(first + BLOCK_NGRAMS, size))
            spellings = [words[ids].tolist() for ids in model.trie.spell(order, rows)]
            before, *after = (column[rows].tolist() for column in columns)
            fields = zip(before, *spellings, *after, strict=True)
            stream.write(b"".join(map(line.__mod__, fields)))
    stream.write(b"\n\\end\\\n")


def check_words(words: Keys) -> None:
    """Reject words that a reader would split or skip: empty ones and those with spaces."""
    spaces = np.flatnonzero(np.isin(words.packed, np.frombuffer(SPACES, np.uint8)))
    empty = np.flatnonzero(np.diff(words.offsets) == 0)
    if len(spaces) or len(empty):
        row = (
            np.searchsorted(words.offsets, spaces[0], side="right") - 1 if len(spaces) else empty[0]
        )
        raise InvalidArgumentError(
            f"{words[int(row)]!r} cannot be in an ARPA file: its words have no spaces"
        )


def to_backoff_model(model: NgramModel) -> NgramModel:
    """Convert a model without back-off to a back-off model that scores sentences equally.

    Contexts shorter than order - 1 words, except at the start of a sentence, are reached only
    by backing off: there every word, seen or not, has the probability `model.unseen`.
    """
    if model.unseen is None:
        return model
    probabilities, backoffs = list(model.probabilities), list(model.backoffs)
    for order in range(1, model.order):
        rows = np.arange(model.trie.sizes[order - 1])
        full_context = model.trie.spell(order, rows)[0] == model.trie.begin
        probabilities[order - 1] = np.where(full_context, probabilities[order - 1], model.unseen)
        if order < model.order - 1:
            backoffs[order - 1] = np.where(full_context, backoffs[order - 1], 1.0)
    return NgramModel(model.trie, tuple(probabilities), tuple(backoffs))


def log10(numbers: Float64Array) -> Float64Array:
    """Return base-10 logarithms, with LOG_OF_ZERO for 0."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log10(numbers), LOG_OF_ZERO)
