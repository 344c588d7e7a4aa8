"""The most telling field: the one whose labels the vectors agree with most.

A label agrees if the nearest points of a point have it too. The share of such neighbours is
corrected for chance, as Cohen's κ is: 0 if neighbours have the label as often as any point,
1 if all of them have it. Ids and titles, which few points share, tell nothing.
"""

from collections.abc import Sequence

import numpy as np

from malmoi.arrays import Int64Array
from malmoi.project.scene import Field

MAX_LABELS = 16  # labels that the page has colours for
MIN_AGREEMENT = 0.3  # below it, clusters tell more


def telling_field(fields: Sequence[Field], rows: Int64Array, near: Int64Array) -> str | None:
    """The name of the field of labels with the highest agreement; None if all are low.

    Args:
        fields: The fields of all points.
        rows: The sampled points, [sample].
        near: Their nearest points by the vectors themselves, [sample, k].

    Returns:
        The name of a field whose agreement is at least 0.3.
    """
    scores = {
        field.name: neighbour_agreement(field, rows, near)
        for field in fields
        if field.kind == "label" and 2 <= len(field.labels) <= MAX_LABELS
    }
    best = max(scores, key=lambda name: scores[name], default=None)
    return best if best is not None and scores[best] >= MIN_AGREEMENT else None


def neighbour_agreement(field: Field, rows: Int64Array, near: Int64Array) -> float:
    """How far the nearest points of points have the same label, corrected for chance."""
    labels = field.values.astype(np.int64)
    agreeing = float((labels[near] == labels[rows][:, np.newaxis]).mean())
    shares = np.bincount(labels, minlength=len(field.labels)) / len(labels)
    by_chance = float((shares**2).sum())
    return (agreeing - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0
