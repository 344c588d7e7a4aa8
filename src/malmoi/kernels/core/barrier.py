"""A barrier for threads that share one computation, and the atomic operations it is made of.

Threads spin at a barrier instead of calling the operating system, because the work between two
barriers takes microseconds. A thread that spins for long yields its core, since the thread it
waits for may need that core.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function

from malmoi.arrays import Int64Array
from malmoi.kernels.core.intrinsics import llvm_intrinsic
from malmoi.kernels.core.jit import jit_inline
from malmoi.kernels.core.llvm import I64, Emitter

SPINS_BEFORE_YIELD = 2000  # some tens of microseconds
SCHED_YIELD = "sched_yield"  # POSIX: move this thread to the end of the core's run queue
PAUSE = "llvm.x86.sse2.pause"  # hint to the processor that this is a spin loop


def atomic_adder(value: int) -> Callable[[int], int]:
    """A kernel function that adds `value` to the int64 at an address, atomically."""

    @llvm_intrinsic(types.int64)
    def atomic_add(emit: Emitter, address: Any) -> Any:
        pointer = emit.builder.inttoptr(address, I64.as_pointer())
        return emit.builder.atomic_rmw("add", pointer, I64(value), "seq_cst")

    return atomic_add


atomic_inc, atomic_dec = atomic_adder(1), atomic_adder(-1)


@llvm_intrinsic(types.int64)
def atomic_load(emit: Emitter, address: Any) -> Any:
    """The int64 at an address, including the latest writes of other threads."""
    builder, signature = emit.builder, ir.FunctionType(ir.VoidType(), [])
    builder.call(builder.module.declare_intrinsic(PAUSE, (), signature), [])
    pointer = builder.inttoptr(address, I64.as_pointer())
    return builder.load_atomic(pointer, "seq_cst", align=8, typ=I64)


@llvm_intrinsic(types.int32)
def sched_yield(emit: Emitter) -> Any:
    """Let another thread have this core if one is waiting for it."""
    signature = ir.FunctionType(ir.IntType(32), [])
    function = get_or_insert_function(emit.builder.module, signature, SCHED_YIELD)
    return emit.builder.call(function, [])


class ThreadContext(NamedTuple):
    """The number of a thread in its group, and the counter of the group's barriers."""

    thread: int
    num_threads: int
    arrivals: Int64Array  # [1], arrivals at all barriers so far, summed over threads
    barriers_passed: int = 0  # before this job


@jit_inline
def barrier_wait(context: ThreadContext, barrier: int) -> int:
    """Wait until all threads reach this barrier, numbered from 0; return the next number."""
    if context.num_threads > 1:
        atomic_inc(context.arrivals.ctypes.data)
        expected = (context.barriers_passed + barrier + 1) * context.num_threads
        spins = 0
        while atomic_load(context.arrivals.ctypes.data) < expected:
            spins += 1
            if spins > SPINS_BEFORE_YIELD:
                sched_yield()
    return barrier + 1


@jit_inline
def partition(count: int, context: ThreadContext) -> tuple[int, int]:
    """The part of `range(count)` that this thread works on: start, stop."""
    thread, num_threads = context.thread, context.num_threads
    return count * thread // num_threads, count * (thread + 1) // num_threads
