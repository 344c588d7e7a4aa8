"""Chance inside kernels: a generator of 64 random bits, and words drawn by their weight.

The state of a generator is an array of one number, so that whoever calls owns it.
"""

import numpy as np
import numpy.typing as npt

from malmoi.arrays import UInt32Array, UInt64Array
from malmoi.kernels.core.jit import jit, jit_inline

CERTAIN = 0xFFFFFFFF


@jit
def seeded(seed: int, part: int) -> UInt64Array:
    """A generator for one part of the work, unlike that of any other part (splitmix64)."""
    mixed = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + np.uint64(part)
    mixed = (mixed + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return np.array([mixed | np.uint64(1)], dtype=np.uint64)


@jit_inline
def random_bits(state: UInt64Array) -> np.uint64:
    """64 bits; xorshift, its low bits mixed by a multiplication (xorshift64*)."""
    bits = state[0]
    bits ^= bits >> np.uint64(12)
    bits ^= bits << np.uint64(25)
    bits ^= bits >> np.uint64(27)
    state[0] = bits
    mixed: np.uint64 = bits * np.uint64(0x2545F4914F6CDD1D)
    return mixed


@jit_inline
def below(state: UInt64Array, count: int) -> np.int64:
    """A whole number from 0 to below `count`, which is less than 2³²."""
    return np.int64(((random_bits(state) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@jit_inline
def draw(state: UInt64Array, table: UInt32Array) -> np.int64:
    """A number drawn by its weight: one of two that share a place of an alias table."""
    bits = random_bits(state)
    place = np.int64(((bits >> np.uint64(32)) * np.uint64(len(table))) >> np.uint64(32))
    alias = np.int64(table[place, 1])
    stays = np.uint32(bits & np.uint64(CERTAIN)) <= table[place, 0]
    drawn: np.int64 = alias + stays * (place - alias)  # no branch: nobody could foretell it
    return drawn


@jit
def fill_alias_table(shares: npt.NDArray[np.float64], table: UInt32Array) -> None:
    """Walker's table [count, 2] from shares whose mean is 1, which are used up.

    Place i stays i with a chance of `table[i, 0]` / 2³², else it is `table[i, 1]`.
    """
    count = len(shares)
    small, large = np.empty(count, np.int32), np.empty(count, np.int32)
    smalls = larges = 0
    for i in range(count):
        table[i, 0], table[i, 1] = CERTAIN, i
        if shares[i] < 1:
            small[smalls] = i
            smalls += 1
        else:
            large[larges] = i
            larges += 1
    while smalls and larges:
        i, j = small[smalls - 1], large[larges - 1]
        table[i, 0], table[i, 1] = np.uint32(shares[i] * CERTAIN), j
        shares[j] -= 1 - shares[i]
        smalls -= 1
        if shares[j] < 1:
            larges -= 1
            small[smalls] = j
            smalls += 1


def alias_table(weights: npt.NDArray[np.float64]) -> UInt32Array:
    """The table that draws by these weights."""
    total = weights.sum()
    if not (len(weights) and weights.min() >= 0 and 0 < total < np.inf):
        raise ValueError("alias_table: weights are not finite and at least 0, or they are all 0")
    table = np.empty((len(weights), 2), np.uint32)
    fill_alias_table(weights * (len(weights) / total), table)
    return table
