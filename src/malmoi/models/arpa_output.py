"""N-gram models written as ARPA files; `models.arpa` describes them and reads them.

Models that do not back off are written as models that do. Knows nothing of paths.
"""

from typing import BinaryIO

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.errors import InvalidArgumentError
from malmoi.keys import Keys
from malmoi.models.arpa import LOG_OF_ZERO, SPACES
from malmoi.models.ngram_model import NgramModel

BLOCK = 1 << 16  # n-grams written in one go


def write_arpa(model: NgramModel, stream: BinaryIO) -> None:
    """The model as an ARPA file."""
    check_words(model.trie.words)
    model = backing_off(model)
    sizes = model.trie.sizes
    stream.write(b"\\data\\\n")
    stream.writelines(b"ngram %d=%d\n" % item for item in enumerate(sizes, 1))
    words = np.array([*map(model.trie.words.bytes_at, range(sizes[0]))], dtype=object)
    for order, size in enumerate(sizes, 1):
        columns = [logarithms(model.probabilities[order - 1])]
        line = b"%.9g\t" + b" ".join([b"%b"] * order) + b"\n"
        if order < model.order:
            columns.append(logarithms(model.backoffs[order - 1]))
            line = line.replace(b"\n", b"\t%.9g\n")
        stream.write(b"\n\\%d-grams:\n" % order)
        for first in range(0, size, BLOCK):
            rows = np.arange(first, min(first + BLOCK, size))
            spelled = [words[ids].tolist() for ids in model.trie.spell(order, rows)]
            before, *after = (column[rows].tolist() for column in columns)
            fields = zip(before, *spelled, *after, strict=True)
            stream.write(b"".join(map(line.__mod__, fields)))
    stream.write(b"\n\\end\\\n")


def check_words(words: Keys) -> None:
    """Refuse words that would be read back as none or as several."""
    spaces = np.flatnonzero(np.isin(words.packed, np.frombuffer(SPACES, np.uint8)))
    empty = np.flatnonzero(np.diff(words.offsets) == 0)
    if len(spaces) or len(empty):
        row = (
            np.searchsorted(words.offsets, spaces[0], side="right") - 1 if len(spaces) else empty[0]
        )
        raise InvalidArgumentError(
            f"{words[int(row)]!r} cannot be in an ARPA file: words have no spaces there"
        )


def backing_off(model: NgramModel) -> NgramModel:
    """A model that does not back off as one that does, the same for every sentence.

    Contexts shorter than the order's, except at the beginning of a sentence, are only ever
    backed off to: words have the same small probability there, seen or not.
    """
    if model.unseen is None:
        return model
    probabilities, backoffs = list(model.probabilities), list(model.backoffs)
    for order in range(1, model.order):
        rows = np.arange(model.trie.sizes[order - 1])
        whole = model.trie.spell(order, rows)[0] == model.trie.begin
        probabilities[order - 1] = np.where(whole, probabilities[order - 1], model.unseen)
        if order < model.order - 1:
            backoffs[order - 1] = np.where(whole, backoffs[order - 1], 1.0)
    return NgramModel(model.trie, tuple(probabilities), tuple(backoffs))


def logarithms(numbers: Float64Array) -> Float64Array:
    """To base 10, with ARPA's for 0."""
    with np.errstate(divide="ignore"):
        return np.maximum(np.log10(numbers), LOG_OF_ZERO)
