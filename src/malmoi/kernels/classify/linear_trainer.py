"""LinearKernel: the Python entry to the training of linear classifiers; checks its arrays.

The constructor checks features and labels, `learn` what differs with each call.
"""

from typing import Any

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int32Array, Int64Array, UInt32Array
from malmoi.kernels.classify.linear_steps import (
    count_buckets,
    count_labels,
    learn_texts,
    replace_buckets,
)
from malmoi.kernels.classify.sets import Sets
from malmoi.kernels.core.checks import ArrayOf, Offsets, Sizes, check_each, require
from malmoi.kernels.core.jit import readonly_view

MAX_LOGS = 1 << 16  # counts with a logarithm in the table; α is nothing beside larger ones


class LinearKernel:
    """Features and labels of texts, and the table of features that they train.

    A row of the table [rows, 3 outputs + 1] is the weights, the log ratios for a text without the
    label, the number of texts with each label, and of all texts with the feature. Weights begin
    at 1, which is naive Bayes.
    """

    def __init__(self, features: Sets, labels: Sets, rows: int, outputs: int) -> None:
        self.outputs = outputs
        self.table = np.zeros((rows, 3 * outputs + 1), np.float32)
        self.table[:, :outputs] = 1
        self.bias = np.zeros(outputs, np.float32)
        self.weights = np.ones((2, outputs), np.float32)
        self.squares = np.zeros((0, outputs), np.float32)
        self._logs = self._constants = np.zeros(0, np.float32)
        self._sizes: Sizes = {"rows": rows, "outputs": outputs}
        checks = [
            ("features", features.offsets, Offsets("texts", into="entries")),
            ("features", features.items, ArrayOf(np.int32, "entries", below="rows")),
            ("labels", labels.offsets, Offsets("texts", into="labels")),
            ("labels", labels.items, ArrayOf(np.int32, "labels", below="outputs")),
        ]
        check_each(checks, self._sizes)
        self._texts: tuple[Any, ...] = *features, *labels
        self._texts = tuple(readonly_view(each) for each in self._texts)

    def count(self, texts: Int64Array, alpha: float) -> None:
        """Count features and labels of the texts to train, smoothed by α."""
        checks = [("texts", texts, ArrayOf(np.int64, "chosen", below="texts"))]
        check_each(checks, self._sizes | {})
        arrays: tuple[Any, ...] = (readonly_view(texts), *self._texts)
        kernel: Any = count_labels
        kernel(*arrays, self.outputs, self.table)
        totals = self.table[:, -1]
        features = max(1, int(np.count_nonzero(totals)))
        positive = self.table[:, 2 * self.outputs : -1].sum(axis=0, dtype=np.float64)
        negative = totals.sum(dtype=np.float64) - positive
        constants = np.log((alpha * features + negative) / (alpha * features + positive))
        self._constants = constants.astype(np.float32)
        self._logs = np.log(alpha + np.arange(min(len(texts) + 1, MAX_LOGS))).astype(np.float32)
        self.table[:, self.outputs : 2 * self.outputs] = self.ratios(left_out=1)

    def ratios(self, left_out: int = 0) -> Float32Array:
        """The log ratio of each feature for each output, [rows, outputs]; 0 if never counted.

        So many texts without the label are left out.
        """
        logs, large = self._logs, len(self._logs) - 1
        positive, total = self.table[:, 2 * self.outputs : -1], self.table[:, -1:]
        parts = []
        for counts in (positive, np.maximum(total - left_out - positive, 0)):
            short = logs[np.minimum(counts, large).astype(np.int64)]
            parts.append(np.where(counts > large, np.log(np.maximum(counts, 1)), short))
        ratios: Float32Array = np.where(total > 0, parts[0] - parts[1] + self._constants, 0)
        return ratios.astype(np.float32)

    def learn(
        self,
        order: UInt32Array,
        rates: tuple[float, float, float],
        losses: Float64Array,
        chunk: int,
        *,
        softmax: bool = False,
    ) -> None:
        """Train counted texts in this order, from the first rate to the second.

        The bias has the third rate, as a share of the others. `softmax` needs one label per text.
        """
        check_each([("order", order, ArrayOf(np.uint32, "o", below="texts"))], self._sizes | {})
        check_each(
            [
                ("weights", self.weights, ArrayOf(np.float32, 2, "outputs")),
                ("bias", self.bias, ArrayOf(np.float32, "outputs")),
                ("squares", self.squares, ArrayOf(np.float32, "rows or 0", "outputs")),
            ],
            self._sizes | {},
        )
        require(0 <= chunk < len(losses), f"chunk is {chunk}: it must be below {len(losses)}")
        require(len(self._logs) > 0, "count the texts before they are learned")
        arrays: list[Any] = [readonly_view(order), *self._texts, readonly_view(self.weights)]
        ratios = readonly_view(self._logs), readonly_view(self._constants)
        learned = self.table, self.squares, self.bias, np.array(rates, np.float64)
        learn_texts(*arrays, *ratios, *learned, softmax, losses, chunk)  # type: ignore[call-arg]


def bucket_counts(buckets: Int32Array, bits: int) -> UInt32Array:
    """How often each of 2^bits buckets occurs."""
    counts = np.zeros(1 << bits, np.uint32)
    check_each([("buckets", buckets, ArrayOf(np.int32, "n", below="all"))], {"all": len(counts)})
    count_buckets(readonly_view(buckets), counts)
    return counts


def to_rows(sets: Sets, rows: Int32Array) -> Sets:
    """Sets of buckets as sets of rows, where `rows` has the row of each bucket or -1."""
    ends, items = np.zeros_like(sets.offsets), sets.items.copy()
    checks = [
        ("offsets", sets.offsets, Offsets("texts", into="entries")),
        ("items", items, ArrayOf(np.int32, "entries", below="all")),
        ("rows", rows, ArrayOf(np.int32, "all")),
    ]
    check_each(checks, {})
    replace_buckets(readonly_view(sets.offsets), items, readonly_view(rows), ends)
    return Sets(ends, items[: ends[-1]])
