"""Texts packed without padding, in batches of texts of like length.

All that works piece by piece runs on one matrix [pieces, dim]; only attention sees a padded
view [texts, longest], which `pad` and `unpad` lead to and back from.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from malmoi.encode.pieces import Numbers
from malmoi.encode.pooling import group_bounds

BUDGET = 1024  # pieces in a batch
Chosen = npt.NDArray[np.int64]  # numbers of texts


@dataclass(frozen=True, eq=False)
class Packed:
    """One batch: texts one after the other.

    `places` are rows of the table of positions and segments; `pad` [texts, longest] says which
    piece stands in each place of the padded view, `unpad` [pieces] in which place each piece
    stands, `mask` [texts, longest] which places are taken.
    """

    ids: Numbers
    places: Numbers
    pad: Numbers
    unpad: Numbers
    mask: Numbers
    sizes: npt.NDArray[np.int64]


def pack(ids: Sequence[Sequence[int]], segments: Sequence[Sequence[int]], positions: int) -> Packed:
    """A batch of texts; `positions` is how many rows the table has for each segment."""
    sizes = np.array([len(text) for text in ids], np.int64)
    bounds = group_bounds(sizes)
    within = np.arange(bounds[-1]) - np.repeat(bounds[:-1], sizes)
    column = np.arange(sizes.max())
    taken = column < sizes[:, np.newaxis]
    return Packed(
        ids=np.concatenate(ids).astype(np.int32),
        places=(within + positions * np.concatenate(segments)).astype(np.int32),
        pad=np.where(taken, bounds[:-1, np.newaxis] + column, 0).astype(np.int32),
        unpad=np.flatnonzero(taken).astype(np.int32),
        mask=taken.astype(np.int32),
        sizes=sizes,
    )


def batches(sizes: npt.NDArray[np.int64]) -> Iterator[Chosen]:
    """Which texts go together: the longest first, as many as the budget takes, at least one."""
    order = np.argsort(-sizes, kind="stable")
    first = total = 0
    for place, text in enumerate(order.tolist()):
        if place > first and total + sizes[text] > BUDGET:
            yield order[first:place]
            first, total = place, 0
        total += int(sizes[text])
    if len(order):
        yield order[first:]
