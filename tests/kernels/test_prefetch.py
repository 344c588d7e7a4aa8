"""Asking for memory ahead changes nothing but the time."""

import numba
import numpy as np
import numpy.typing as npt

from malmoi.kernels.core.jit import jit
from malmoi.kernels.core.llvm import CACHE_LINE_BYTES
from malmoi.kernels.core.prefetch import prefetch


@jit
def total(numbers: npt.NDArray[np.float32], order: npt.NDArray[np.int64]) -> float:
    """A sum in an order that nobody foresees, the next line asked for."""
    found = 0.0
    for i in range(len(order)):
        prefetch(numbers.ctypes.data + 4 * order[min(i + 1, len(order) - 1)])
        found += numbers[order[i]]
    return found


@jit
def ask_for_nothing() -> int:
    """Addresses that nobody has."""
    prefetch(0)
    prefetch(-1)
    prefetch(CACHE_LINE_BYTES)
    return 1


def test_a_loop_that_asks_ahead_gives_the_same() -> None:
    numbers = np.arange(100_000, dtype=np.float32)
    order = np.random.default_rng(1).permutation(len(numbers))
    assert total(numbers, order) == numbers.sum(dtype=np.float64)


def test_an_address_that_is_not_there_does_no_harm() -> None:
    assert ask_for_nothing() == 1


def test_the_instruction_is_really_there() -> None:
    fresh = numba.njit(total.py_func)  # type: ignore[attr-defined]  # code from a cache is not shown
    fresh(np.zeros(1, dtype=np.float32), np.zeros(1, dtype=np.int64))
    assert any("call void @llvm.prefetch" in code for code in fresh.inspect_llvm().values())
