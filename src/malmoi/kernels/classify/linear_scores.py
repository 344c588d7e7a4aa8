"""Scores of texts by a linear classifier: Σ values / norm of the features that have a row.

The buckets with a row are a bitmap with the number of rows before each 64 bits, so that a row is
found with two reads of little memory. Sums are in float64 and in order, as in NumPy's `bincount`,
which gives the same bits without this kernel.
"""

from typing import Any

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int32Array, Int64Array, UInt64Array
from malmoi.kernels.core.checks import ArrayOf, Offsets, check_each
from malmoi.kernels.core.jit import in_parallel, jit, readonly_view


class BucketRows:
    """The rows of sorted buckets, found by a bitmap."""

    def __init__(self, buckets: Int32Array, bits: int) -> None:
        present = np.zeros(1 << max(bits, 6), np.bool_)
        present[buckets] = True
        packed = np.packbits(present, bitorder="little")
        self.bitmap: UInt64Array = packed.view("<u8").astype(np.uint64)
        counts = np.bincount(buckets >> 6, minlength=len(self.bitmap))
        self.ranks: Int64Array = np.cumsum(counts) - counts
        self.rows = len(buckets)

    def scores(
        self,
        offsets: Int64Array,
        buckets: Int32Array,
        values: Float32Array,
        norms: Float32Array,
    ) -> Float64Array:
        """Σ values / √Σ norms² of each text, [texts, outputs]; 0 without known features."""
        sizes = {"buckets": 64 * len(self.bitmap), "rows": self.rows}
        checks = [
            ("offsets", offsets, Offsets("texts", into="entries")),
            ("items", buckets, ArrayOf(np.int32, "entries", below="buckets")),
            ("values", values, ArrayOf(np.float32, "rows", "outputs")),
            ("norms", norms, ArrayOf(np.float32, "rows")),
        ]
        check_each(checks, sizes)
        scores = np.zeros((len(offsets) - 1, values.shape[1]))
        given = (offsets, buckets, self.bitmap, self.ranks, values, norms)
        arrays: Any = tuple(readonly_view(each) for each in given)
        score: Any = score_texts
        in_parallel(lambda first, last: score(*arrays, scores, first, last), len(scores))
        return scores


@jit
def score_texts(
    offsets: Int64Array,
    buckets: Int32Array,
    bitmap: UInt64Array,
    ranks: Int64Array,
    values: Float32Array,
    norms: Float32Array,
    scores: Float64Array,
    first: int,
    last: int,
) -> None:
    """Score the texts from `first` to `last`."""
    outputs = values.shape[1]
    for text in range(first, last):
        score, square = scores[text], 0.0
        for i in range(offsets[text], offsets[text + 1]):
            bucket = np.int64(buckets[i])
            word, bit = bitmap[bucket >> 6], np.uint64(1) << np.uint64(bucket & 63)
            if word & bit:
                row = ranks[bucket >> 6] + count_bits(word & (bit - np.uint64(1)))
                square += np.float64(norms[row]) * np.float64(norms[row])
                for k in range(outputs):
                    score[k] += np.float64(values[row, k])
        if square > 0:
            norm = np.sqrt(square)
            for k in range(outputs):
                score[k] /= norm


@jit
def count_bits(word: Any) -> Any:
    """The number of bits that are set (Warren, Hacker's Delight, 5-1)."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
