"""How every kernel is compiled, and how one is run by several threads."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar, cast

import numba
import numpy.typing as npt

from malmoi.kernels.core.code_cache import cached
from malmoi.kernels.threads import THREADS

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def compiled(kernel: Kernel) -> Kernel:
    """Compile at the first call, cache on disk, let other threads run meanwhile."""
    return jitted(kernel)


def loosely_compiled(kernel: Kernel) -> Kernel:
    """The same, with sums in whatever order is fastest: where a bound on the error is known."""
    return jitted(kernel, fastmath={"contract", "reassoc"})


def freely_compiled(kernel: Kernel) -> Kernel:
    """The same, with quotients by estimated reciprocals too: where noise is larger anyway.

    Divisors are finite and not 0: nobody looks, as a look at each would cost more than the rest.
    """
    return jitted(kernel, fastmath={"contract", "reassoc", "arcp"}, error_model="numpy")


def uncounted(kernel: Kernel) -> Kernel:
    """The same for a kernel that makes no array: views of rows cost nothing in its loops.

    Otherwise Numba counts who uses an array each time a row of it is looked at.
    """
    return jitted(kernel, fastmath={"contract", "reassoc"}, error_model="numpy", _nrt=False)


def readily_compiled(kernel: Kernel) -> Kernel:
    """As `uncounted`, for numbers that are finite: maxima and quotients become vectors too."""
    ready = {"contract", "reassoc", "arcp", "nnan", "nsz"}
    return jitted(kernel, fastmath=ready, error_model="numpy", _nrt=False)


def inlined(kernel: Kernel) -> Kernel:
    """Compile into the kernel that calls it: for the small pieces inside a hot loop."""
    return jitted(kernel, inline="always")


def jitted(kernel: Kernel, **options: object) -> Kernel:
    """A kernel that Numba compiles, its machine code kept by `code_cache`."""
    return cached(cast(Kernel, numba.njit(nogil=True, **options)(kernel)))


def fixed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view that cannot be written to: kernels are compiled anew for every kind of array."""
    view = array.view()
    view.flags.writeable = False
    return view


@cache
def pool() -> ThreadPoolExecutor:
    """The threads that all kernels share."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix="malmoi")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)  # threads do not survive a fork


def in_parallel(task: Callable[[int, int], object], last: int, first: int = 0) -> None:
    """Run `task(from, to)` over equal parts of `range(first, last)` at the same time."""
    bounds = [first + (last - first) * part // THREADS for part in range(THREADS + 1)]
    others = [pool().submit(task, *bounds[i : i + 2]) for i in range(1, THREADS)]
    task(*bounds[:2])
    for other in others:
        other.result()
