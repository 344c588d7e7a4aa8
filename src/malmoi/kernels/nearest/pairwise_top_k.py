"""Top-k lists for every row from products of rows with rows; each product is used twice.

The score of row r for another row, by metric m, is `product * factor[m, r] - offset[m, r]`. The
top-k list of row r is `rows[m, r]` with `scores[m, r]`, best first; `least[m, r]` is its last
score.
"""

import numpy as np

from malmoi.arrays import Float32Array, UInt32Array
from malmoi.kernels.core.checks import ArrayOf, checked, require
from malmoi.kernels.core.jit import jit_inline, jit_norefcount

GROUP_PRODUCTS = 64  # tested together; few groups hold a product that is good enough
RowSpan = tuple[int, int]


def _require_spans(
    products: Float32Array, corner: RowSpan, own: RowSpan, other: RowSpan, *arrays: Float32Array
) -> None:
    """Raise if the spans are outside the tile or the matrix."""
    rows, best = arrays[0].shape[1], arrays[2].shape[2]
    for first, size, span in zip(corner, products.shape, (own, other), strict=True):
        inside = 0 <= first <= span[0] and span[1] <= min(first + size, rows)
        require(inside, f"rows {span} are not in the tile of {size} from {first}, of {rows} rows")
    require(best > 0 or rows < 2, "the top-k lists have length 0")


@checked(
    _require_spans,
    products=ArrayOf(np.float32, "height", "width"),
    factor=ArrayOf(np.float32, "metrics", "rows"),
    offset=ArrayOf(np.float32, "metrics", "rows"),
    rows=ArrayOf(np.uint32, "metrics", "rows", "best"),
    scores=ArrayOf(np.float32, "metrics", "rows", "best"),
    least=ArrayOf(np.float32, "metrics", "rows"),
)
@jit_norefcount
def update_top_k(
    products: Float32Array,
    corner: RowSpan,
    own: RowSpan,
    other: RowSpan,
    factor: Float32Array,
    offset: Float32Array,
    rows: UInt32Array,
    scores: Float32Array,
    least: Float32Array,
) -> None:
    """Update the top-k lists of the rows `own` and `other` with each other's scores.

    `products[i, j]` is the product of row `corner[0] + i` with row `corner[1] + j`. A tile on the
    diagonal holds each product twice, so only the lists of `own` are updated.
    """
    twice = corner[0] != corner[1]
    for i in range(own[0] - corner[0], own[1] - corner[0]):
        one = corner[0] + i
        for start in range(other[0], other[1], GROUP_PRODUCTS):
            stop = min(start + GROUP_PRODUCTS, other[1])
            line = products[i, start - corner[1] : stop - corner[1]]
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
    """Insert a row by its score; the last entry of the list drops out."""
    position = rows.shape[2] - 1
    while position > 0 and scores[metric, one, position - 1] < score:
        rows[metric, one, position] = rows[metric, one, position - 1]
        scores[metric, one, position] = scores[metric, one, position - 1]
        position -= 1
    rows[metric, one, position] = row
    scores[metric, one, position] = score
    least[metric, one] = scores[metric, one, -1]
