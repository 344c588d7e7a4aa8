"""The best rows for every row out of products of rows with rows, each product used twice.

How good row r is for another, by metric m, is `product * factor[m, r] - offset[m, r]`. The
best so far for row r are `rows[m, r]`, their scores `scores[m, r]`, best first, and `least[m, r]`
is the last of these.
"""

import numpy as np

from malmoi.arrays import Float32Array, UInt32Array
from malmoi.kernels.core.checks import ArrayOf, checked, require
from malmoi.kernels.core.jit import jit_inline, jit_norefcount

GROUP = 64  # products that are looked at together; few groups hold one that is good enough
Span = tuple[int, int]


def _require_spans(
    near: Float32Array, corner: Span, own: Span, other: Span, *arrays: Float32Array
) -> None:
    """Refuse rows that are not in the tile, or that there are not."""
    rows, best = arrays[0].shape[1], arrays[2].shape[2]
    for at, size, span in zip(corner, near.shape, (own, other), strict=True):
        inside = 0 <= at <= span[0] and span[1] <= min(at + size, rows)
        require(inside, f"rows {span} are not in the tile of {size} from {at}, of {rows} rows")
    require(best > 0 or rows < 2, "there is no room for a best row")


@checked(
    _require_spans,
    near=ArrayOf(np.float32, "height", "width"),
    factor=ArrayOf(np.float32, "metrics", "rows"),
    offset=ArrayOf(np.float32, "metrics", "rows"),
    rows=ArrayOf(np.uint32, "metrics", "rows", "best"),
    scores=ArrayOf(np.float32, "metrics", "rows", "best"),
    least=ArrayOf(np.float32, "metrics", "rows"),
)
@jit_norefcount
def offer(
    near: Float32Array,
    corner: Span,
    own: Span,
    other: Span,
    factor: Float32Array,
    offset: Float32Array,
    rows: UInt32Array,
    scores: Float32Array,
    least: Float32Array,
) -> None:
    """Offer the rows `own` and `other` to each other.

    `near[i, j]` is the product of row `corner[0] + i` with row `corner[1] + j`. Where the tile
    lies on the diagonal it holds each product twice, and `other` is offered to `own` alone.
    """
    twice = corner[0] != corner[1]
    for i in range(own[0] - corner[0], own[1] - corner[0]):
        one = corner[0] + i
        for start in range(other[0], other[1], GROUP):
            stop = min(start + GROUP, other[1])
            line = near[i, start - corner[1] : stop - corner[1]]
            for metric in range(least.shape[0]):
                factors, offsets = factor[metric, start:stop], offset[metric, start:stop]
                bars, bar = least[metric, start:stop], least[metric, one]
                times, less = factor[metric, one], offset[metric, one]
                good = np.int32(0)
                for j in range(len(line)):
                    good += np.int32(line[j] * factors[j] - offsets[j] > bar)
                    good += np.int32(line[j] * times - less > bars[j])
                if good == 0:
                    continue
                for j in range(len(line)):
                    score = line[j] * factors[j] - offsets[j]
                    if score > least[metric, one] and start + j != one:
                        _insert(rows, scores, least, metric, one, start + j, score)
                    score = line[j] * times - less
                    if twice and score > bars[j]:
                        _insert(rows, scores, least, metric, start + j, one, score)


@jit_inline
def _insert(
    rows: UInt32Array,
    scores: Float32Array,
    least: Float32Array,
    metric: int,
    one: int,
    row: int,
    score: float,
) -> None:
    """Put a row where its score belongs; the last falls out."""
    at = rows.shape[2] - 1
    while at > 0 and scores[metric, one, at - 1] < score:
        rows[metric, one, at] = rows[metric, one, at - 1]
        scores[metric, one, at] = scores[metric, one, at - 1]
        at -= 1
    rows[metric, one, at] = row
    scores[metric, one, at] = score
    least[metric, one] = scores[metric, one, -1]
