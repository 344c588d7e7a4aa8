"""Vectors trained on more text, joined with the old ones of words that it does not have."""

from dataclasses import replace

import numpy as np

from malmoi.keys import Keys
from malmoi.vectors import Vectors
from malmoi.vocabulary import by_frequency


def joined(new: Vectors, old: Vectors) -> Vectors:
    """The new vectors, and the old ones of words that have no new one.

    Where both know counts, these are added and words stand in the order of them; else the old
    ones stand behind.
    """
    again = new.keys.find_all(old.keys)
    kept = np.flatnonzero(again < 0)
    keys = Keys.of([*new.keys, *old.keys.take(kept)])
    matrix = np.concatenate([new.matrix, old.matrix[kept]])
    order, counts, output = np.arange(len(keys)), None, None
    if new.counts is not None and old.counts is not None:
        counts = np.concatenate([new.counts, old.counts[kept]])
        counts[again[again >= 0]] += old.counts[again >= 0]
        order = by_frequency(keys, counts)
    if new.output is not None and old.output is not None:
        output = np.concatenate([new.output, old.output[kept]])[order]
    return replace(
        new,
        keys=keys.take(order),
        matrix=matrix[order],
        counts=None if counts is None else counts[order],
        output=output,
    )
