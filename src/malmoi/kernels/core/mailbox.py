"""A mailbox through which one thread posts jobs to workers that wait inside a kernel.

Workers do not return to Python between jobs, so Python's lock does not delay them. A worker spins
on the job number for a while and then blocks on a pipe. The operating system takes a tenth of a
millisecond to wake a thread, so workers may be woken before the job is posted.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function

from malmoi.arrays import Int64Array
from malmoi.kernels.core.barrier import (
    SPINS_BEFORE_YIELD,
    atomic_dec,
    atomic_inc,
    atomic_load,
    sched_yield,
)
from malmoi.kernels.core.intrinsics import llvm_intrinsic
from malmoi.kernels.core.jit import jit_inline
from malmoi.kernels.core.llvm import I64, Emitter

I8, I32 = ir.IntType(8), ir.IntType(32)
FIELD_SPACING = 16  # int64s, two cache lines: fields that several threads write lie that far apart
# Indices of the mailbox's fields.
JOB, SLEEPING, ARRIVALS = 0, FIELD_SPACING, 2 * FIELD_SPACING
BARRIERS_PASSED, NUM_TOKENS, NUM_TEXTS, NUM_STATES = range(3 * FIELD_SPACING, 3 * FIELD_SPACING + 4)
SIZE = 4 * FIELD_SPACING
SPIN_LIMIT = 6000  # spins before a worker blocks on the pipe, some tenths of a millisecond
SHUTDOWN = -1  # as the number of tokens: workers return


def pipe_call(name: str) -> Callable[[int], int]:
    """POSIX `read` or `write` of one byte."""

    @llvm_intrinsic(types.int64)
    def call(emit: Emitter, pipe: Any) -> Any:
        signature = ir.FunctionType(I64, [I32, I8.as_pointer(), I64])
        function = get_or_insert_function(emit.builder.module, signature, name)
        return emit.builder.call(function, [emit.builder.trunc(pipe, I32), emit.alloca(I8), I64(1)])

    return call


block_on_pipe, wake = pipe_call("read"), pipe_call("write")


def new_mailbox(num_tokens: int = 0, num_texts: int = 0) -> Int64Array:
    """A mailbox without a job; the sizes of a batch may be set in advance."""
    mailbox = np.zeros(SIZE, np.int64)
    mailbox[NUM_TOKENS], mailbox[NUM_TEXTS] = num_tokens, num_texts
    return mailbox


@jit_inline
def field_address(mailbox: Int64Array, field: int) -> int:
    """The address of a field, for atomic operations."""
    return mailbox.ctypes.data + field * 8


@jit_inline
def post_job(mailbox: Int64Array, pipe: int) -> None:
    """Start the job that the mailbox describes and wake the workers that sleep."""
    atomic_inc(field_address(mailbox, JOB))
    for _ in range(atomic_load(field_address(mailbox, SLEEPING))):
        wake(pipe)


@jit_inline
def wait_for_job(mailbox: Int64Array, last: int, pipe: int) -> int:
    """Wait for the job after number `last`; return its number."""
    spins = 0
    while atomic_load(field_address(mailbox, JOB)) == last:
        spins += 1
        if spins > SPINS_BEFORE_YIELD:
            sched_yield()
        if spins > SPIN_LIMIT:
            atomic_inc(field_address(mailbox, SLEEPING))
            # A job posted after this check wakes the worker, which is now counted as sleeping.
            if atomic_load(field_address(mailbox, JOB)) == last:
                block_on_pipe(pipe)
            atomic_dec(field_address(mailbox, SLEEPING))
            spins = 0
    return last + 1
