"""Decorators that compile kernels with Numba, one per set of flags, and a shared thread pool."""

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


def jit(kernel: Kernel) -> Kernel:
    """Compile at the first call, cache on disk, release the GIL."""
    return compile_kernel(kernel)


def jit_reassoc(kernel: Kernel) -> Kernel:
    """`jit` that may reorder sums: for kernels with a known error bound."""
    return compile_kernel(kernel, fastmath={"contract", "reassoc"})


def jit_fastdiv(kernel: Kernel) -> Kernel:
    """`jit_reassoc` that may divide by estimated reciprocals: for noisy computations.

    Divisors must be finite and not 0; they are not checked.
    """
    return compile_kernel(kernel, fastmath={"contract", "reassoc", "arcp"}, error_model="numpy")


def jit_norefcount(kernel: Kernel) -> Kernel:
    """`jit_reassoc` without reference counting: for kernels that allocate no array.

    Otherwise Numba updates a reference count for each view of a row.
    """
    return compile_kernel(kernel, fastmath={"contract", "reassoc"}, error_model="numpy", _nrt=False)


def jit_finite(kernel: Kernel) -> Kernel:
    """`jit_norefcount` for finite numbers: LLVM can vectorize maxima and quotients too."""
    flags = {"contract", "reassoc", "arcp", "nnan", "nsz"}
    return compile_kernel(kernel, fastmath=flags, error_model="numpy", _nrt=False)


def jit_inline(kernel: Kernel) -> Kernel:
    """Inline into the kernel that calls it: for small functions inside hot loops."""
    return compile_kernel(kernel, inline="always")


def compile_kernel(kernel: Kernel, **options: object) -> Kernel:
    """Compile with these options of Numba and cache the machine code with `code_cache`."""
    return cached(cast(Kernel, numba.njit(nogil=True, **options)(kernel)))


def readonly_view(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view. Numba compiles a kernel separately for read-only and writable arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


@cache
def pool() -> ThreadPoolExecutor:
    """The thread pool that all kernels share."""
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
