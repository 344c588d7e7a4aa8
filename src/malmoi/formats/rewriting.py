"""Vectors made ready to be stored: keys composed, rows of length one."""

from malmoi.formats.reading import LoadReport, nfc, without_repeats
from malmoi.keys import Keys
from malmoi.vectors import Vectors, l2_normalize


def composed(vectors: Vectors) -> Vectors:
    """Keys in NFC; of two that become the same the first row is kept."""
    keys = Keys.of(map(nfc, vectors.keys))
    plain = Vectors(keys, vectors.matrix, vectors.counts, vectors.meta)
    return without_repeats(plain, LoadReport())


def normalised(vectors: Vectors) -> Vectors:
    """Every row of length one, without subwords; rows of zeros stay."""
    return Vectors(vectors.keys, l2_normalize(vectors.matrix), vectors.counts, vectors.meta)
