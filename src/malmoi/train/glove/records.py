"""What GloVe learns from: the entries of a co-occurrence matrix, in groups, the groups in chunks.

Groups are runs of a row, so that its word stays near while they are learnt; they are shuffled
for each iteration. Within a chunk those come together whose contexts are about as frequent, so
that these stay near too. Knows nothing of what is learnt.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float32Array, Int64Array, UInt32Array
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.core.jit import readonly_view
from malmoi.models.cooccurrences import BLOCK, Cooccurrences
from malmoi.text.parallel import in_order

GROUP = 32  # records that share a row, at most
CHUNK = 1 << 15  # groups: about a million records, a tenth of a second
NEAR = 1 << 20  # bytes of contexts that stay near the processor

RECORD = 8  # bytes: a logarithm and a weight, beside the column where the matrix has it


@dataclass(frozen=True, eq=False)
class Records:
    """Logarithm and weight of each entry; where each group ends, its row, its kind of context."""

    bounds: Int64Array
    rows: UInt32Array
    kinds: npt.NDArray[np.uint16]
    columns: UInt32Array
    logs: Float32Array
    weights: Float32Array

    def chunks(self, seed: int, iteration: int) -> list[UInt32Array]:
        """All groups in random order, cut into chunks; the same for the same numbers."""
        groups = np.arange(len(self.rows), dtype=np.uint32)
        np.random.default_rng((seed, iteration)).shuffle(groups)
        return np.split(groups, range(CHUNK, len(groups), CHUNK))

    def sorted(self, chunk: UInt32Array) -> UInt32Array:
        """The groups of a chunk, those of near contexts together."""
        near: UInt32Array = chunk[np.argsort(self.kinds[chunk], kind="stable")]
        return near

    def __len__(self) -> int:
        return len(self.columns)


def make_records(
    counts: Cooccurrences, x_max: float, alpha: float, *, plus_one: bool, row_bytes: int
) -> Records:
    """The entries with log x, or log(1 + x), and f(x) = min(1, (x / x_max)^alpha)."""
    logs, weights = (np.empty(len(counts), dtype=np.float32) for _ in range(2))

    def fill(first: int) -> bool:
        part = slice(first, first + BLOCK)
        values = counts.values[part].astype(np.float32)
        with np.errstate(all="ignore"):  # refused below, or so far that it is 1 or 0
            logs[part] = np.log1p(values) if plus_one else np.log(values)
            weights[part] = np.minimum(1, (values / np.float32(x_max)) ** np.float32(alpha))
        return bool(values.min() > 0 and values.max() < np.inf)

    if not all(in_order(fill, range(0, len(counts), BLOCK))):
        raise InvalidArgumentError(
            "there are numbers that are no counts: each must be above 0 and finite"
        )
    if not weights.any():
        raise InvalidArgumentError(
            f"there is nothing to learn: with x_max {x_max:g} and alpha {alpha:g} every pair has"
            " the weight 0; lower one of them"
        )
    bounds, rows = group_bounds(counts.starts)
    kinds = counts.columns[bounds[:-1]] // max(1, NEAR // row_bytes)
    columns = np.asarray(counts.columns)
    few = np.minimum(kinds, 2**16 - 1).astype(np.uint16)  # 16 bits are sorted without comparing
    return Records(bounds, rows, few, readonly_view(columns), logs, weights)


def group_bounds(starts: Int64Array) -> tuple[Int64Array, UInt32Array]:
    """Where each group begins, and the last one ends; and the row of each."""
    groups = -(-np.diff(starts) // GROUP)  # of each row
    rows = np.repeat(np.arange(len(groups)), groups)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(groups) - groups, groups)
    return np.append(starts[rows] + GROUP * within, starts[-1]), rows.astype(np.uint32)


def chunks_of(records: Records) -> int:
    """How many chunks an iteration has."""
    return -(-len(records.rows) // CHUNK)


def memory_of_records(counts: Cooccurrences) -> int:
    """How many bytes the records take, the columns not counted: they stay in their file."""
    groups = len(counts) // GROUP + len(counts.vocabulary)
    return RECORD * len(counts) + 18 * groups
