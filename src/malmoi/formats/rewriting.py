"""Vectors made ready to be stored: keys composed, rows of length one."""

import numpy as np

from malmoi.formats.reading import Report, nfc, without_repeats
from malmoi.keys import Keys
from malmoi.vectors import Vectors, as_matrix


def composed(vectors: Vectors) -> Vectors:
    """Keys in NFC; of two that become the same the first row is kept."""
    keys = Keys.of(map(nfc, vectors.keys))
    plain = Vectors(keys, vectors.matrix, vectors.counts, vectors.meta)
    return without_repeats(plain, Report())


def normalised(vectors: Vectors) -> Vectors:
    """Every row of length one, without subwords; rows of zeros stay."""
    lengths = np.where(vectors.norms > 0, vectors.norms, 1)[:, np.newaxis]
    return Vectors(vectors.keys, as_matrix(vectors.matrix / lengths), vectors.counts, vectors.meta)
