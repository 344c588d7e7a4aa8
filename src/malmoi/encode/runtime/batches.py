"""Texts packed without padding, in batches of texts of like length.

All that works piece by piece runs on one matrix [pieces, dim]; where attention wants a padded
view [texts, longest], `pad` and `unpad` lead there and back.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Int32Array, Int64Array
from malmoi.encode.pooling.groups import group_bounds

BUDGET = 512  # pieces in a batch


@dataclass(frozen=True, eq=False)
class PackedBatch:
    """One batch: texts one after the other, so many pieces each.

    `places` are rows of the table of positions and segments.
    """

    ids: Int32Array
    places: Int32Array
    sizes: npt.NDArray[np.int64]

    @cached_property
    def taken(self) -> npt.NDArray[np.bool_]:
        """Which places of the padded view hold a piece, [texts, longest]."""
        return np.arange(self.sizes.max()) < self.sizes[:, np.newaxis]

    @property
    def mask(self) -> Int32Array:
        """The same in numbers."""
        return self.taken.astype(np.int32)

    @property
    def pad(self) -> Int32Array:
        """Which piece stands in each place of the padded view, [texts, longest]."""
        starts = group_bounds(self.sizes)[:-1, np.newaxis]
        return np.where(self.taken, starts + np.arange(self.sizes.max()), 0).astype(np.int32)

    @property
    def unpad(self) -> Int32Array:
        """In which place of the padded view each piece stands, [pieces]."""
        return np.flatnonzero(self.taken).astype(np.int32)


def pack(
    ids: Sequence[Sequence[int]],
    segments: Sequence[Sequence[int]],
    positions: int,
    padding: int = -1,
) -> PackedBatch:
    """A batch of texts; `positions` is how many rows the table has for each segment.

    With a `padding`, pieces that are this have row 0, and all others are counted from 1.
    """
    sizes = np.array([len(text) for text in ids], np.int64)
    bounds = group_bounds(sizes)
    numbers = np.array(list(chain.from_iterable(ids)), np.int32)
    places = positions * np.array(list(chain.from_iterable(segments)), np.int32)
    if padding < 0:
        places += np.arange(len(numbers), dtype=np.int32) - bounds[:-1].repeat(sizes)
    else:
        counted = numbers != padding
        reached = group_bounds(counted)
        places += (reached[1:] - reached[bounds[:-1]].repeat(sizes)) * counted
    return PackedBatch(numbers, places, sizes)


def batches(sizes: npt.NDArray[np.int64]) -> Iterator[Int64Array]:
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
