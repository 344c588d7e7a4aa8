"""Training of token vectors: texts to the vectors of a teacher, pairs of texts to scores.

A text is the sum s of its tokens' rows, and its vector is u = s / |s|. Texts with a target t of
length 1, and pairs with a score y, have the losses

    1 − u·t        with the gradient (u·t u − t) / |s|         by s
    (u·v − y)²     with the gradient 2 (u·v − y) (v − u·v u) / |s|

Every token of a text has the gradient g of its sum. Steps are by row-wise AdaGrad: `squares` has
one number per row, the sum of |g|², so that the first step of a row is as long as the rate.
Threads share the table without locks, as in word2vec.
"""

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int32Array, Int64Array, UInt32Array
from malmoi.kernels.core.jit import jit_fastdiv, jit_inline
from malmoi.kernels.core.prefetch import prefetch_row

SMALLEST = np.float32(1e-12)  # a shorter sum of rows has no direction


@jit_fastdiv
def learn_targets(
    order: UInt32Array,
    offsets: Int64Array,
    ids: Int32Array,
    targets: Float32Array,
    table: Float32Array,
    squares: Float32Array,
    rate: np.float32,
    losses: Float64Array,
    chunk: int,
) -> None:
    """Train on texts in this order; writes the sum of 1 − cosine to `losses[chunk]`."""
    dim = table.shape[1]
    total, gradient = np.empty(dim, np.float32), np.empty(dim, np.float32)
    loss = 0.0
    for position in range(len(order)):
        text, following = order[position], order[min(position + 1, len(order) - 1)]
        for i in range(offsets[following], offsets[following + 1]):
            prefetch_row(table, ids[i])
        first, last = offsets[text], offsets[text + 1]
        length = sum_rows(ids, first, last, table, total)
        if length < SMALLEST:
            loss += 1.0
            continue
        cosine = set_gradient(total, length, targets[text], np.float32(-1), gradient)
        step(ids, first, last, gradient, table, squares, rate)
        loss += 1.0 - float(cosine)
    losses[chunk] = loss


@jit_fastdiv
def learn_pairs(
    order: UInt32Array,
    offsets: Int64Array,
    ids: Int32Array,
    pairs: Int32Array,
    scores: Float32Array,
    table: Float32Array,
    squares: Float32Array,
    rate: np.float32,
    losses: Float64Array,
    chunk: int,
) -> None:
    """Train on pairs of texts [pairs, 2]; writes the sum of squared errors to `losses[chunk]`."""
    dim = table.shape[1]
    totals = np.empty((2, dim), np.float32)
    gradients = np.empty((2, dim), np.float32)
    loss = 0.0
    for position in range(len(order)):
        pair = order[position]
        one, other = pairs[pair, 0], pairs[pair, 1]
        length = sum_rows(ids, offsets[one], offsets[one + 1], table, totals[0])
        length_other = sum_rows(ids, offsets[other], offsets[other + 1], table, totals[1])
        if length < SMALLEST or length_other < SMALLEST:
            loss += float(scores[pair]) ** 2
            continue
        for k in range(dim):
            totals[0, k] /= length
            totals[1, k] /= length_other
        product = np.float32(0)
        for k in range(dim):
            product += totals[0, k] * totals[1, k]
        error = product - scores[pair]
        factor = np.float32(2) * error
        set_gradient(totals[0], np.float32(1), totals[1], factor / length, gradients[0])
        set_gradient(totals[1], np.float32(1), totals[0], factor / length_other, gradients[1])
        step(ids, offsets[one], offsets[one + 1], gradients[0], table, squares, rate)
        step(ids, offsets[other], offsets[other + 1], gradients[1], table, squares, rate)
        loss += float(error) * float(error)
    losses[chunk] = loss


@jit_inline
def sum_rows(
    ids: Int32Array, first: int, last: int, table: Float32Array, total: Float32Array
) -> np.float32:
    """Set `total` to the sum of the rows ids[first:last]; returns its length."""
    for k in range(len(total)):
        total[k] = np.float32(0)
    for i in range(first, last):
        row = table[ids[i]]
        for k in range(len(total)):
            total[k] += row[k]
    square = np.float32(0)
    for k in range(len(total)):
        square += total[k] * total[k]
    length: np.float32 = np.sqrt(square)
    return length


@jit_inline
def set_gradient(
    total: Float32Array,
    length: np.float32,
    target: Float32Array,
    factor: np.float32,
    gradient: Float32Array,
) -> np.float32:
    """Set the gradient of factor · cos(total, target) by `total`; returns the cosine."""
    product = np.float32(0)
    for k in range(len(total)):
        product += total[k] * target[k]
    cosine = product / length
    along, across = factor * cosine / (length * length), factor / length
    for k in range(len(total)):
        gradient[k] = across * target[k] - along * total[k]
    return cosine


@jit_inline
def step(
    ids: Int32Array,
    first: int,
    last: int,
    gradient: Float32Array,
    table: Float32Array,
    squares: Float32Array,
    rate: np.float32,
) -> None:
    """One step of row-wise AdaGrad for the rows ids[first:last], from the same gradient."""
    square = np.float32(0)
    for k in range(len(gradient)):
        square += gradient[k] * gradient[k]
    if square > np.float32(0):
        for i in range(first, last):
            row, number = table[ids[i]], ids[i]
            squares[number] += square
            factor = rate / np.sqrt(squares[number])
            for k in range(len(gradient)):
                row[k] -= factor * gradient[k]
