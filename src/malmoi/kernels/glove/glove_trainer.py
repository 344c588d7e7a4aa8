"""The Python entry to GloVe's training: checks shapes, types and ranges.

The constructor checks records and tables, `learn` what differs with each call.
"""

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int64Array, UInt32Array
from malmoi.kernels.core.checks import ArrayOf, Offsets, Sizes, check_each, require
from malmoi.kernels.glove.glove_steps import learn_groups

ORDER, LOSSES = ArrayOf(np.uint32, "order", below="groups"), ArrayOf(np.float64, "chunks")


class GloVeKernel:
    """Records in groups and the two tables that they train.

    `groups` are the bounds of each group and its row; see `learn_groups`.
    """

    def __init__(
        self,
        groups: tuple[Int64Array, UInt32Array],
        columns: UInt32Array,
        logs: Float32Array,
        weights: Float32Array,
        tables: tuple[Float32Array, Float32Array],
    ) -> None:
        self._groups, self._records, self._tables = groups, (columns, logs, weights), tables
        self._sizes: Sizes = {}
        checks = [
            ("bounds", groups[0], Offsets("groups", into="records")),
            ("rows", groups[1], ArrayOf(np.uint32, "groups", below="words")),
            ("columns", columns, ArrayOf(np.uint32, "records", below="contexts")),
            ("logs", logs, ArrayOf(np.float32, "records")),
            ("weights", weights, ArrayOf(np.float32, "records")),
            ("words", tables[0], ArrayOf(np.float32, "words", "width")),
            ("contexts", tables[1], ArrayOf(np.float32, "contexts", "width")),
        ]
        check_each(checks, self._sizes)
        width = self._sizes["width"]
        require(
            width % 2 == 0, f"rows have {width} floats: give an even number, weights and squares"
        )

    def learn(self, order: UInt32Array, rate: np.float32, losses: Float64Array, chunk: int) -> None:
        """Train on groups in this order; writes `losses[chunk]` at the end."""
        sizes = self._sizes.copy()
        check_each([("order", order, ORDER), ("losses", losses, LOSSES)], sizes)
        require(0 <= chunk < len(losses), f"chunk is {chunk}: it must be below {len(losses)}")
        (bounds, rows), (columns, logs, weights) = self._groups, self._records
        words, contexts = self._tables
        learn_groups(
            order, bounds, rows, columns, logs, weights, words, contexts, rate, losses, chunk
        )
