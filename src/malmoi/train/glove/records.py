"""Records: the entries of a co-occurrence matrix that GloVe trains on, in groups and chunks.

A group is a run of one row, so that the row of its word stays in the cache; groups are shuffled
for each iteration. Within a chunk, groups with contexts of similar frequency are sorted together,
so that the contexts stay in the cache too.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.core.jit import readonly_view
from malmoi.models.cooccurrences import BLOCK_ENTRIES, Cooccurrences
from malmoi.text.parallel import in_order

MAX_GROUP_RECORDS = 32  # records of one row that are trained together
CHUNK_GROUPS = 1 << 15  # about a million records, a tenth of a second
CACHE_BYTES = 1 << 20  # of context rows that stay in the processor's cache
RECORD_BYTES = 8  # a logarithm and a weight; the column stays in the matrix


@dataclass(frozen=True, eq=False)
class Records:
    """Logarithm and weight of each entry; bounds, row and frequency class of each group."""

    bounds: Int64Array
    rows: UInt32Array
    context_classes: npt.NDArray[np.uint16]
    columns: UInt32Array
    logs: Float32Array
    weights: Float32Array

    def chunks(self, seed: int, iteration: int) -> list[UInt32Array]:
        """All groups in chunks, in an order that follows from seed and iteration."""
        groups = np.arange(len(self.rows), dtype=np.uint32)
        np.random.default_rng((seed, iteration)).shuffle(groups)
        return np.split(groups, range(CHUNK_GROUPS, len(groups), CHUNK_GROUPS))

    def sorted(self, chunk: UInt32Array) -> UInt32Array:
        """The groups of a chunk, sorted by the frequency class of their contexts."""
        groups: UInt32Array = chunk[np.argsort(self.context_classes[chunk], kind="stable")]
        return groups

    def __len__(self) -> int:
        return len(self.columns)


def make_records(
    counts: Cooccurrences, x_max: float, alpha: float, *, plus_one: bool, row_bytes: int
) -> Records:
    """The entries with log x, or log(1 + x), and f(x) = min(1, (x / x_max)^alpha)."""
    logs, weights = (np.empty(len(counts), dtype=np.float32) for _ in range(2))

    def fill(first: int) -> bool:
        block = slice(first, first + BLOCK_ENTRIES)
        values = counts.values[block].astype(np.float32)
        with np.errstate(all="ignore"):  # an error below, or so extreme that it is 0 or 1
            logs[block] = np.log1p(values) if plus_one else np.log(values)
            weights[block] = np.minimum(1, (values / np.float32(x_max)) ** np.float32(alpha))
        return bool(values.min() > 0 and values.max() < np.inf)

    if not all(in_order(fill, range(0, len(counts), BLOCK_ENTRIES))):
        raise InvalidArgumentError(
            "the co-occurrences contain values that are not counts: each must be above 0 and finite"
        )
    if not weights.any():
        raise InvalidArgumentError(
            f"every pair has the weight 0 with x_max {x_max:g} and alpha {alpha:g}: lower one of"
            " them"
        )
    bounds, rows = group_bounds(counts.starts)
    blocks = counts.columns[bounds[:-1]] // max(1, CACHE_BYTES // row_bytes)
    classes = np.minimum(blocks, 2**16 - 1).astype(np.uint16)  # 16 bits allow a radix sort
    columns = readonly_view(np.asarray(counts.columns))
    return Records(bounds, rows, classes, columns, logs, weights)


def group_bounds(starts: Int64Array) -> tuple[Int64Array, UInt32Array]:
    """Where each group starts, with the end of the last one; and the row of each."""
    groups = -(-np.diff(starts) // MAX_GROUP_RECORDS)  # per row
    rows = np.repeat(np.arange(len(groups)), groups)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(groups) - groups, groups)
    return np.append(starts[rows] + MAX_GROUP_RECORDS * within, starts[-1]), rows.astype(np.uint32)


def chunks_per_iteration(records: Records) -> int:
    """The number of chunks in one iteration."""
    return -(-len(records.rows) // CHUNK_GROUPS)


def record_memory(counts: Cooccurrences) -> int:
    """Bytes for the records without the columns, which stay in their file."""
    groups = len(counts) // MAX_GROUP_RECORDS + len(counts.vocabulary)
    return RECORD_BYTES * len(counts) + 18 * groups
