"""GloVe's training: weighted least squares on logarithms of counts, by AdaGrad.

    J = Σ f(x) (w·c + b + d − log x)²        (Pennington et al. 2014, eq. 8)

A row of a table is a word's weights, followed by the sums of their squared gradients. Each bias
is multiplied by a 1 of the other row, so that the dot product of two rows is w·c + b + d:

    words       w₁ … w_dim  b  1  0 …  |  squares
    contexts    c₁ … c_dim  1  d  0 …  |  squares

Entries that must not change, such as the 1, have the square FIXED. Training visits the records
of a word in groups: entries `bounds[g]` to `bounds[g + 1]` of a sparse matrix, in row `rows[g]`.
"""

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int64Array, UInt32Array
from malmoi.kernels.core.jit import jit_fastdiv, jit_inline
from malmoi.kernels.core.llvm import CACHE_LINE_BYTES
from malmoi.kernels.core.prefetch import prefetch, prefetch_row

FIXED = np.float32(1e38)  # finite, but a step divided by its root rounds to nothing
PREFETCH_RECORDS = 4  # distance between the prefetch of a row and its use


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
    """Train on groups in this order; writes `losses[chunk]` at the end.

    The loss of a record is the one before its update, as in the original program.
    """
    loss = 0.0
    for position in range(len(order)):
        group, following = order[position], order[min(position + 1, len(order) - 1)]
        first, last, next_first = bounds[group], bounds[group + 1], bounds[following]
        prefetch_row(words, rows[following])
        prefetch_entries(columns, logs, weights, next_first)
        word = words[rows[group]]
        for i in range(first, last):
            ahead = i + PREFETCH_RECORDS
            if ahead >= last:
                ahead = min(ahead - last + next_first, len(columns) - 1)
            prefetch_row(contexts, columns[ahead])
            loss += float(learn(word, contexts[columns[i]], logs[i], weights[i], rate))
    losses[chunk] = loss


@jit_inline
def learn(
    word: Float32Array, context: Float32Array, log: np.float32, weight: np.float32, rate: np.float32
) -> np.float32:
    """Update both rows by one step of AdaGrad from their old values; returns the loss before.

    As in the original program, the squares include the rate, and the rate the gradient's factor 2.
    """
    width = len(word) // 2
    product = np.float32(0)
    for j in range(width):
        product += word[j] * context[j]
    error = product - log
    step = rate * weight * error
    for j in range(width):
        w, c = word[j], context[j]
        to_word, to_context = step * c, step * w
        word[j] = w - to_word / np.sqrt(word[width + j])
        context[j] = c - to_context / np.sqrt(context[width + j])
        word[width + j] += to_word * to_word
        context[width + j] += to_context * to_context
    return weight * error * error


@jit_inline
def prefetch_entries(
    columns: UInt32Array, logs: Float32Array, weights: Float32Array, first: int
) -> None:
    """Prefetch the first entries of a group: two cache lines of each array."""
    for line in range(0, 2 * CACHE_LINE_BYTES, CACHE_LINE_BYTES):
        prefetch(columns.ctypes.data + 4 * first + line)
        prefetch(logs.ctypes.data + 4 * first + line)
        prefetch(weights.ctypes.data + 4 * first + line)
