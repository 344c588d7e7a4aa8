"""Random numbers inside kernels: a 64-bit generator, and sampling by weight (alias method).

The state of a generator is an array of one number that the caller owns.
"""

import numpy as np
import numpy.typing as npt

from malmoi.arrays import UInt32Array, UInt64Array
from malmoi.kernels.core.jit import jit, jit_inline

PROBABILITY_ONE = 0xFFFFFFFF  # the probability 1 as a 32-bit fraction


@jit
def seeded(seed: int, part: int) -> UInt64Array:
    """Return the state of a generator for one part of the work, distinct per part (splitmix64)."""
    mixed = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + np.uint64(part)
    mixed = (mixed + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return np.array([mixed | np.uint64(1)], dtype=np.uint64)


@jit_inline
def random_bits(state: UInt64Array) -> np.uint64:
    """Return 64 random bits (xorshift64*)."""
    bits = state[0]
    bits ^= bits >> np.uint64(12)
    bits ^= bits << np.uint64(25)
    bits ^= bits >> np.uint64(27)
    state[0] = bits
    mixed: np.uint64 = bits * np.uint64(0x2545F4914F6CDD1D)
    return mixed


@jit_inline
def below(state: UInt64Array, count: int) -> np.int64:
    """Return an integer from 0 to `count` - 1; `count` is less than 2³²."""
    return np.int64(((random_bits(state) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@jit_inline
def draw(state: UInt64Array, table: UInt32Array) -> np.int64:
    """Sample an index by weight: one of the two that share an entry of the alias table."""
    bits = random_bits(state)
    entry = np.int64(((bits >> np.uint64(32)) * np.uint64(len(table))) >> np.uint64(32))
    alias = np.int64(table[entry, 1])
    stays = np.uint32(bits & np.uint64(PROBABILITY_ONE)) <= table[entry, 0]
    sample: np.int64 = alias + stays * (entry - alias)  # branchless: unpredictable
    return sample


@jit
def fill_alias_table(shares: npt.NDArray[np.float64], table: UInt32Array) -> None:
    """Fill Walker's alias table [count, 2] from shares with a mean of 1, which it overwrites.

    Entry i gives i with the probability `table[i, 0]` / 2³², else `table[i, 1]`.
    """
    count = len(shares)
    small, large = np.empty(count, np.int32), np.empty(count, np.int32)
    smalls = larges = 0
    for i in range(count):
        table[i, 0], table[i, 1] = PROBABILITY_ONE, i
        if shares[i] < 1:
            small[smalls] = i
            smalls += 1
        else:
            large[larges] = i
            larges += 1
    while smalls and larges:
        i, j = small[smalls - 1], large[larges - 1]
        table[i, 0], table[i, 1] = np.uint32(shares[i] * PROBABILITY_ONE), j
        shares[j] -= 1 - shares[i]
        smalls -= 1
        if shares[j] < 1:
            larges -= 1
            small[smalls] = j
            smalls += 1


def alias_table(weights: npt.NDArray[np.float64]) -> UInt32Array:
    """Return the alias table that samples by these weights."""
    total = weights.sum()
    if not (len(weights) and weights.min() >= 0 and 0 < total < np.inf):
        raise ValueError("alias_table: weights must be finite, at least 0 and not all 0")
    table = np.empty((len(weights), 2), np.uint32)
    fill_alias_table(weights * (len(weights) / total), table)
    return table
