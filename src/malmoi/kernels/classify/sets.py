"""Sets: items of texts in one array, such as features or labels. Does not import Numba."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

import numpy as np

from malmoi.arrays import Int32Array, Int64Array


class Sets(NamedTuple):
    """Items of each text: those from offsets[t] to offsets[t + 1]."""

    offsets: Int64Array
    items: Int32Array

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Self:
        """Sets from lists."""
        return cls(
            np.cumsum([0, *map(len, rows)], dtype=np.int64),
            np.fromiter((item for row in rows for item in row), np.int32),
        )

    @property
    def sizes(self) -> Int64Array:
        """The number of items of each text."""
        return np.diff(self.offsets)

    def take(self, texts: Int64Array) -> "Sets":
        """The sets of some texts."""
        sizes = self.sizes[texts]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        shifts = np.repeat(self.offsets[texts] - offsets[:-1], sizes)
        return Sets(offsets, self.items[np.arange(offsets[-1]) + shifts])

    def joined(self, others: "Iterable[Sets]") -> "Sets":
        """These sets and then others."""
        every = [self, *others]
        sizes = np.concatenate([each.sizes for each in every])
        return Sets(
            np.cumsum(np.concatenate([[0], sizes])), np.concatenate([each.items for each in every])
        )
