"""How threads that work on one thing share it, and wait for each other.

Waiting is a loop, not a call to the system: the work between two meetings takes microseconds.
Whoever waits for longer lets others have the core, for the one waited for may be among them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function

from malmoi.arrays import Int64Array
from malmoi.kernels.core.intrinsics import emitted
from malmoi.kernels.core.jit import inlined
from malmoi.kernels.core.llvm import INT, Emitter

PATIENCE = 2000  # looks, some tens of microseconds
YIELD = "sched_yield"  # of POSIX: back of the queue for this core
PAUSE = "llvm.x86.sse2.pause"  # tells the processor that this is a loop that waits


def counting(by: int) -> Callable[[int], int]:
    """The number at an address grows by so much, at once for all who look."""

    @emitted(types.int64)
    def count(emit: Emitter, counter: Any) -> Any:
        pointer = emit.builder.inttoptr(counter, INT.as_pointer())
        return emit.builder.atomic_rmw("add", pointer, INT(by), "seq_cst")

    return count


arrive, leave = counting(1), counting(-1)


@emitted(types.int64)
def look(emit: Emitter, counter: Any) -> Any:
    """The number at an address, as the others left it."""
    builder, nothing = emit.builder, ir.FunctionType(ir.VoidType(), [])
    builder.call(builder.module.declare_intrinsic(PAUSE, (), nothing), [])
    pointer = builder.inttoptr(counter, INT.as_pointer())
    return builder.load_atomic(pointer, "seq_cst", align=8, typ=INT)


@emitted(types.int32)
def give_way(emit: Emitter) -> Any:
    """Let another thread have this core, if one is waiting for it."""
    kind = ir.FunctionType(ir.IntType(32), [])
    return emit.builder.call(get_or_insert_function(emit.builder.module, kind, YIELD), [])


class ThreadContext(NamedTuple):
    """Who a thread is among those that share the work, and how often they have met before."""

    part: int
    parts: int
    counter: Int64Array  # [1], how often one of them came to a meeting
    met: int = 0


@inlined
def meet(team: ThreadContext, meeting: int) -> int:
    """Wait until all have come to this meeting, counted from 0; the number of the next one."""
    if team.parts > 1:
        arrive(team.counter.ctypes.data)
        looks = 0
        while look(team.counter.ctypes.data) < (team.met + meeting + 1) * team.parts:
            looks += 1
            if looks > PATIENCE:
                give_way()
    return meeting + 1


@inlined
def share(count: int, team: ThreadContext) -> tuple[int, int]:
    """Which of so many a thread does: from, to."""
    return count * team.part // team.parts, count * (team.part + 1) // team.parts
