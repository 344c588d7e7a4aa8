"""Attention within one text, for one head: every piece looks at every piece of its text.

    out = softmax(queries · keysᵀ + bias) · values        (Vaswani et al. 2017, equation 1)

Queries come already divided by the root of their size. Nothing is padded but the last vector.
"""

from typing import NamedTuple

from malmoi.arrays import Float32Array
from malmoi.kernels.core.jit import readily_compiled
from malmoi.kernels.core.llvm import WIDE
from malmoi.kernels.transformer.activations import exponentials
from malmoi.kernels.transformer.gemm import PANEL, pair_product, panel_product, vector_product
from malmoi.kernels.transformer.gemm_quantized import Quantized

QUERIES = 64  # pieces whose scores are held at once


class AttentionScratch(NamedTuple):
    """Room for one thread; `zeros` [PANEL] stay so, and `quantized` is for products of integers."""

    keys: Float32Array  # [panels of the longest, size, PANEL]
    values: Float32Array  # [longest, size in whole vectors]
    scores: (
        Float32Array  # [QUERIES, longest in whole panels and one more, lest rows share cache sets]
    )
    found: Float32Array  # [QUERIES, size in whole vectors]
    totals: Float32Array  # [QUERIES]
    zeros: Float32Array
    quantized: Quantized


@readily_compiled
def attend(
    joined: Float32Array,
    span: tuple[int, int],
    head: int,
    sizes: tuple[int, int],
    bias: Float32Array,
    desk: AttentionScratch,
    out: Float32Array,
) -> None:
    """Of pieces from a first one, so many; `joined` is [pieces, queries | keys | values].

    `sizes` are the numbers of a piece, and the heads among which they are divided.
    """
    (first, count), (dim, heads) = span, sizes
    size = dim // heads
    column = head * size
    keys, values, scores, found = desk.keys, desk.values, desk.scores, desk.found
    for j in range(count):
        key = joined[first + j, dim + column :]
        across, lane = keys[j // PANEL], j % PANEL
        for d in range(size):
            across[d, lane] = key[d]
        value, own = joined[first + j, 2 * dim + column :], values[j]
        for d in range(size):
            own[d] = value[d]
    pairs = found.shape[1] // (2 * WIDE) * (2 * WIDE)
    for start in range(0, count, QUERIES):
        rows = min(QUERIES, count - start)
        asking = joined[first + start : first + start + rows, column:]
        for panel in range((count + PANEL - 1) // PANEL):
            panel_product(asking, keys[panel, :size], desk.zeros, scores[:, panel * PANEL :])
        for i in range(rows):
            if bias.shape[1] > 0:
                middle = bias.shape[1] // 2 - (start + i)
                for j in range(count):
                    scores[i, j] += bias[head, middle + j]
            desk.totals[i] = exponentials(scores[i], count)
        for place in range(0, pairs, 2 * WIDE):
            pair_product(scores[:rows], values[:count, place:], desk.zeros, found[:, place:])
        for place in range(pairs, found.shape[1], WIDE):
            vector_product(scores[:rows], values[:count, place:], desk.zeros, found[:, place:])
        for i in range(rows):
            row, near, total = out[first + start + i, column:], found[i], desk.totals[i]
            for d in range(size):
                row[d] = near[d] / total
