"""The Python entry to the training of token vectors: checks shapes, types and ranges.

The constructor checks texts and table, the methods what differs with each call.
"""

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int32Array, Int64Array, UInt32Array
from malmoi.kernels.core.checks import ArrayOf, Offsets, Sizes, check_each, require
from malmoi.kernels.core.jit import readonly_view
from malmoi.kernels.static.token_steps import learn_pairs, learn_targets

LOSSES = ArrayOf(np.float64, "chunks")
FIRST_SQUARE = 1e-12  # so that AdaGrad never divides by 0


class TokenKernel:
    """Texts as token ids, and the table of token vectors that they train."""

    def __init__(self, offsets: Int64Array, ids: Int32Array, table: Float32Array) -> None:
        self._texts = readonly_view(offsets), readonly_view(ids)
        self.table, self.squares = table, np.full(len(table), FIRST_SQUARE, np.float32)
        self._sizes: Sizes = {}
        checks = [
            ("offsets", offsets, Offsets("texts", into="tokens")),
            ("ids", ids, ArrayOf(np.int32, "tokens", below="rows")),
            ("table", table, ArrayOf(np.float32, "rows", "dim")),
        ]
        check_each(checks, self._sizes)

    def learn_targets(
        self,
        order: UInt32Array,
        targets: Float32Array,
        rate: float,
        losses: Float64Array,
        chunk: int,
    ) -> None:
        """Train texts in this order; `targets` [texts, dim] have length 1."""
        checks = [
            ("order", order, ArrayOf(np.uint32, "order", below="texts")),
            ("targets", targets, ArrayOf(np.float32, "texts", "dim")),
            ("losses", losses, LOSSES),
        ]
        check_each(checks, self._sizes | {})
        require(0 <= chunk < len(losses), f"chunk is {chunk}: it must be below {len(losses)}")
        arrays = (*self._texts, readonly_view(targets), self.table, self.squares)
        learn_targets(readonly_view(order), *arrays, np.float32(rate), losses, chunk)

    def learn_pairs(
        self,
        order: UInt32Array,
        pairs: Int32Array,
        scores: Float32Array,
        rate: float,
        losses: Float64Array,
        chunk: int,
    ) -> None:
        """Train pairs of texts [pairs, 2] in this order."""
        checks = [
            ("pairs", pairs, ArrayOf(np.int32, "pairs", 2, below="texts")),
            ("scores", scores, ArrayOf(np.float32, "pairs")),
            ("order", order, ArrayOf(np.uint32, "order", below="pairs")),
            ("losses", losses, LOSSES),
        ]
        check_each(checks, self._sizes | {})
        require(0 <= chunk < len(losses), f"chunk is {chunk}: it must be below {len(losses)}")
        examples = readonly_view(pairs), readonly_view(scores)
        arrays = (*self._texts, *examples, self.table, self.squares)
        learn_pairs(readonly_view(order), *arrays, np.float32(rate), losses, chunk)
