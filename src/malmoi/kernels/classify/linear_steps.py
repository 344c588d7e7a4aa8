"""Steps of logistic regression on sets of features, scaled by their naive Bayes log ratios.

Feature f of a text has the value r[f, k] / norm for output k (Wang & Manning 2012), where

    r[f, k] = log((α + p) / (αF + P)) − log((α + n) / (αF + N))

p of the texts with label k have the feature, and n of the others; P and N are the sums of these
over all F features. The score of output k is Σ w[f, k] r[f, k] / norm + bias[k], and norm² is
Σ r[f, k]² over features, the mean over outputs. A text that trains is left out of p and n: else a
feature of this text alone would give its label away.

A row of the table is, for each output, w, then r of a text without the label, then p; and last the
number of texts with the feature. r of a text with the label is computed from these counts.
Two classes have one output; its label is class 1, and class 0 is no label. Threads share the table
without locks. Knows nothing of texts.
"""

import math
from typing import Any

import numpy as np

from malmoi.arrays import BoolArray, Float32Array, Float64Array, Int32Array, Int64Array, UInt32Array
from malmoi.kernels.core.jit import jit, jit_fastdiv, jit_inline, jit_norefcount
from malmoi.kernels.core.prefetch import prefetch_row

SMALLEST = np.float32(1e-12)  # so that AdaGrad never divides by 0
SMALLEST_NORM = np.float32(1e-6)  # of squared norms: ratios below are rounding errors


@jit_fastdiv
def learn_texts(
    order: UInt32Array,
    offsets: Int64Array,
    features: Int32Array,
    label_offsets: Int64Array,
    labels: Int32Array,
    weights: Float32Array,
    logs: Float32Array,
    constants: Float32Array,
    table: Float32Array,
    squares: Float32Array,
    bias: Float32Array,
    rates: Float64Array,
    softmax: bool,
    losses: Float64Array,
    chunk: int,
) -> None:
    """Train texts in this order; the sum of losses goes to `losses[chunk]`.

    `weights` [2, outputs] are those of texts without and with the label. `logs` are log(α + count),
    `constants` [outputs] log((αF + N) / (αF + P)). `rates` are the learning rate at begin and end,
    and the bias's share of it. Rows of `squares`, if there are any, are the sums of AdaGrad.
    """
    count, outputs = len(order), len(bias)
    scores, errors = np.empty(outputs, np.float32), np.empty(outputs, np.float32)
    has = np.zeros(outputs, np.bool_)
    losses[chunk] = 0.0
    for position in range(count):
        text, following = order[position], order[min(position + 1, count - 1)]
        for i in range(offsets[following], offsets[following + 1]):
            prefetch_row(table, features[i])
        first, last = offsets[text], offsets[text + 1]
        own = labels[label_offsets[text] : label_offsets[text + 1]]
        for label in own:
            has[label] = True
        scale = set_scores(features, first, last, own, logs, constants, table, scores)
        for k in range(outputs):
            scores[k] = scores[k] * scale + bias[k]
        losses[chunk] += set_errors(scores, has, weights, softmax, errors)
        rate = np.float32(rates[0] + (rates[1] - rates[0]) * position / count)
        for k in range(outputs):
            bias[k] -= rate * np.float32(rates[2]) * errors[k]
            errors[k] *= scale
        if len(squares) == len(table):
            step_adagrad(features, first, last, has, logs, constants, errors, rate, table, squares)
        else:
            step(features, first, last, own, logs, constants, errors, rate, table)
        for label in own:
            has[label] = False


@jit_norefcount
def set_scores(
    features: Int32Array,
    first: int,
    last: int,
    own: Int32Array,
    logs: Float32Array,
    constants: Float32Array,
    table: Float32Array,
    scores: Float32Array,
) -> Any:
    """Set Σ w r of each output; returns 1 / norm, or 0 if no feature says anything.

    Ratios of labels that the text does not have are in the table, those of its `own` are not.
    """
    outputs, norm = len(scores), np.float32(0)
    for k in range(outputs):
        scores[k] = np.float32(0)
    for i in range(first, last):
        row = table[features[i]]
        for k in range(outputs):
            ratio = row[outputs + k]
            scores[k] += row[k] * ratio
            norm += ratio * ratio
        for label in own:
            other, ratio = row[outputs + label], own_ratio(row, label, outputs, constants, logs)
            scores[label] += row[label] * (ratio - other)
            norm += ratio * ratio - other * other
    norm /= np.float32(outputs)
    return np.float32(1) / np.sqrt(norm) if norm > SMALLEST_NORM else np.float32(0)


@jit_inline
def own_ratio(
    row: Float32Array, label: int, outputs: int, constants: Float32Array, logs: Float32Array
) -> Any:
    """r of a feature for a label of the text itself, which is left out of the counts."""
    positive, total = row[2 * outputs + label] - np.float32(1), row[3 * outputs] - np.float32(1)
    return log_count(positive, logs) - log_count(total - positive, logs) + constants[label]


@jit_inline
def log_count(count: Any, logs: Float32Array) -> Any:
    """log(α + count) from the table, which ends where counts are large beside α."""
    return logs[int(count)] if count < len(logs) else np.float32(math.log(count))


@jit
def set_errors(
    scores: Float32Array,
    has: BoolArray,
    weights: Float32Array,
    softmax: bool,
    errors: Float32Array,
) -> float:
    """Set errors to probability − target, times the weight; returns the loss."""
    outputs, loss = len(scores), 0.0
    if not softmax:
        for k in range(outputs):
            weight, score = weights[1 if has[k] else 0, k], float(scores[k])
            errors[k] = weight * (1 / (1 + math.exp(-score)) - (1 if has[k] else 0))
            loss += weight * softplus(-score if has[k] else score)
        return loss
    highest, sums, weight = float(scores.max()), 0.0, 1.0
    for k in range(outputs):
        errors[k] = math.exp(scores[k] - highest)
        sums += errors[k]
    for k in range(outputs):
        if has[k]:
            weight = weights[1, k]
            loss = weight * (math.log(sums) + highest - scores[k])
    for k in range(outputs):
        errors[k] = weight * (errors[k] / sums - (1 if has[k] else 0))
    return loss


@jit_inline
def softplus(value: float) -> float:
    """log(1 + exp(value)), without overflow."""
    return max(value, 0.0) + math.log1p(math.exp(-abs(value)))


@jit_norefcount
def step(
    features: Int32Array,
    first: int,
    last: int,
    own: Int32Array,
    logs: Float32Array,
    constants: Float32Array,
    errors: Float32Array,
    rate: Any,
    table: Float32Array,
) -> None:
    """Move w of all features against the gradient, errors · r."""
    outputs = len(errors)
    for i in range(first, last):
        row = table[features[i]]
        for k in range(outputs):
            row[k] -= rate * errors[k] * row[outputs + k]
        for label in own:
            ratio = own_ratio(row, label, outputs, constants, logs)
            row[label] -= rate * errors[label] * (ratio - row[outputs + label])


@jit_fastdiv
def step_adagrad(
    features: Int32Array,
    first: int,
    last: int,
    has: BoolArray,
    logs: Float32Array,
    constants: Float32Array,
    errors: Float32Array,
    rate: Any,
    table: Float32Array,
    squares: Float32Array,
) -> None:
    """`step`, divided by the root of the sum of squared gradients."""
    outputs = len(errors)
    for i in range(first, last):
        row = table[features[i]]
        for k in range(outputs):
            ratio = row[outputs + k]
            if has[k]:
                ratio = own_ratio(row, k, outputs, constants, logs)
            gradient = errors[k] * ratio
            squares[features[i], k] += gradient * gradient
            row[k] -= rate * gradient / np.sqrt(squares[features[i], k] + SMALLEST)


@jit
def count_labels(
    texts: Int64Array,
    offsets: Int64Array,
    features: Int32Array,
    label_offsets: Int64Array,
    labels: Int32Array,
    outputs: int,
    table: Float32Array,
) -> None:
    """Count the texts with each feature, and those of them with each label, in the table."""
    for t in range(len(texts)):
        text = texts[t]
        for i in range(offsets[text], offsets[text + 1]):
            row = features[i]
            table[row, 3 * outputs] += np.float32(1)
            for j in range(label_offsets[text], label_offsets[text + 1]):
                table[row, 2 * outputs + labels[j]] += np.float32(1)


@jit
def count_buckets(buckets: Int32Array, counts: UInt32Array) -> None:
    for i in range(len(buckets)):
        counts[buckets[i]] += np.uint32(1)


@jit
def replace_buckets(
    offsets: Int64Array, buckets: Int32Array, rows: Int32Array, ends: Int64Array
) -> None:
    """Replace buckets by their rows, in place; those without a row (-1) are left out."""
    end = 0
    for text in range(len(offsets) - 1):
        for i in range(offsets[text], offsets[text + 1]):
            row = rows[buckets[i]]
            if row >= 0:
                buckets[end] = row
                end += 1
        ends[text + 1] = end
