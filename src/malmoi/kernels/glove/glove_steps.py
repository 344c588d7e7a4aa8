"""GloVe's training: weighted least squares on logarithms of counts, by AdaGrad.

    J = Σ f(x) (w·c + b + d − log x)²        (Pennington et al. 2014, eq. 8)

A row of a table is a word's numbers and, behind them, the sums of their squared gradients. Each
bias stands opposite to a 1, so that the product of two rows is w·c + b + d:

    words       w₁ … w_dim  b  1  0 …  |  squares
    contexts    c₁ … c_dim  1  d  0 …  |  squares

What must not move, such as the 1, has the square FIXED. Records that share a word are learnt in
groups: entries `bounds[g]` to `bounds[g + 1]` of a sparse matrix, all of them in row `rows[g]`.
"""

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int64Array, UInt32Array
from malmoi.kernels.core.jit import jit_fastdiv, jit_inline
from malmoi.kernels.core.llvm import CACHE_LINE_BYTES
from malmoi.kernels.core.prefetch import prefetch, prefetch_row

FIXED = np.float32(1e38)  # finite, yet a step divided by its root is lost in rounding
AHEAD = 4  # records from a row's being asked for to its being used


@jit_fastdiv
def learn_groups(
    order: UInt32Array,
    bounds: Int64Array,
    rows: UInt32Array,
    columns: UInt32Array,
    logs: Float32Array,
    weights: Float32Array,
    words: Float32Array,
    contexts: Float32Array,
    rate: np.float32,
    losses: Float64Array,
    chunk: int,
) -> None:
    """Learn groups in this order; `losses[chunk]` is set once all are learnt, and not before.

    The loss of a record is the one before it is learnt, as in the original program.
    """
    loss = 0.0
    for at in range(len(order)):
        group, following = order[at], order[min(at + 1, len(order) - 1)]
        first, last, then = bounds[group], bounds[group + 1], bounds[following]
        prefetch_row(words, rows[following])
        fetch_entries(columns, logs, weights, then)
        word = words[rows[group]]
        for i in range(first, last):
            ahead = i + AHEAD
            if ahead >= last:
                ahead = min(ahead - last + then, len(columns) - 1)
            prefetch_row(contexts, columns[ahead])
            loss += float(learn(word, contexts[columns[i]], logs[i], weights[i], rate))
    losses[chunk] = loss


@jit_inline
def learn(
    word: Float32Array, context: Float32Array, log: np.float32, weight: np.float32, rate: np.float32
) -> np.float32:
    """One step of AdaGrad on both rows, each from what the other was; returns the loss before.

    The rate is inside the squares, and 2, the gradient's factor, in the rate, as they are in
    the original program.
    """
    width = len(word) // 2
    product = np.float32(0)
    for j in range(width):
        product += word[j] * context[j]
    off = product - log
    pull = rate * weight * off
    for j in range(width):
        w, c = word[j], context[j]
        to_word, to_context = pull * c, pull * w
        word[j] = w - to_word / np.sqrt(word[width + j])
        context[j] = c - to_context / np.sqrt(context[width + j])
        word[width + j] += to_word * to_word
        context[width + j] += to_context * to_context
    return weight * off * off


@jit_inline
def fetch_entries(
    columns: UInt32Array, logs: Float32Array, weights: Float32Array, first: int
) -> None:
    """Ask for the first entries of a group: two lines of each kind."""
    for line in range(0, 2 * CACHE_LINE_BYTES, CACHE_LINE_BYTES):
        prefetch(columns.ctypes.data + 4 * first + line)
        prefetch(logs.ctypes.data + 4 * first + line)
        prefetch(weights.ctypes.data + 4 * first + line)
