"""Mean pooling of token vectors: the mean of each text's rows of a table.

Sums run over tokens in order, so that vectors do not depend on the instruction set.
"""

import numpy as np

from malmoi.arrays import Float32Array, Int32Array, Int64Array
from malmoi.kernels.core.checks import ArrayOf, Offsets, checked
from malmoi.kernels.core.jit import in_parallel, jit, readonly_view
from malmoi.kernels.core.prefetch import prefetch_row

PREFETCH_TOKENS = 4  # distance between the prefetch of a row and its use


def pool_rows(offsets: Int64Array, ids: Int32Array, table: Float32Array) -> Float32Array:
    """The mean of the rows ids[offsets[t]:offsets[t + 1]] of each text t, [texts, dim].

    A text without tokens gets zeros.
    """
    means = np.empty((len(offsets) - 1, table.shape[1]), np.float32)
    arrays = (readonly_view(offsets), readonly_view(ids), readonly_view(table))
    check(*arrays, means, 0, 0)
    in_parallel(lambda first, last: pool_texts(*arrays, means, first, last), len(means))
    return means


@jit
def pool_texts(
    offsets: Int64Array,
    ids: Int32Array,
    table: Float32Array,
    means: Float32Array,
    first: int,
    last: int,
) -> None:
    """Pool the texts from `first` to `last`."""
    for text in range(first, last):
        mean = means[text]
        for k in range(len(mean)):
            mean[k] = np.float32(0)
        start, stop = offsets[text], offsets[text + 1]
        for i in range(start, stop):
            prefetch_row(table, ids[min(i + PREFETCH_TOKENS, len(ids) - 1)])
            row = table[ids[i]]
            for k in range(len(mean)):
                mean[k] += row[k]
        if stop > start:
            count = np.float32(stop - start)
            for k in range(len(mean)):
                mean[k] /= count


check = checked(
    offsets=Offsets("texts", into="tokens"),
    ids=ArrayOf(np.int32, "tokens", below="rows"),
    table=ArrayOf(np.float32, "rows", "dim"),
    means=ArrayOf(np.float32, "texts", "dim"),
)(pool_texts)
