"""How threads that work on one thing share it, and wait for each other.

Waiting is a loop, not a call to the system: the work between two meetings takes microseconds.
Whoever waits for longer lets others have the core, for the one waited for may be among them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from malmoi.kernels.compiled import inlined
from malmoi.kernels.emitting import INT
from malmoi.kernels.text_rows import Places

Generate = Callable[[Any, Any, Any, Any], Any]
PATIENCE = 2000  # looks, some tens of microseconds
YIELD = "sched_yield"  # of POSIX: back of the queue for this core
PAUSE = "llvm.x86.sse2.pause"  # tells the processor that this is a loop that waits


def counting(by: int) -> Callable[[int], int]:
    """The number at an address grows by so much, at once for all who look."""

    def generate_count(typing: Any, counter: Any) -> tuple[Any, Generate]:
        def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
            pointer = builder.inttoptr(given[0], INT.as_pointer())
            return builder.atomic_rmw("add", pointer, INT(by), "seq_cst")

        return types.int64(types.int64), generate

    return cast(Callable[[int], int], intrinsic(generate_count))


def generate_look(typing: Any, counter: Any) -> tuple[Any, Generate]:
    """The number at an address, as the others left it."""

    def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
        nothing = ir.FunctionType(ir.VoidType(), [])
        builder.call(builder.module.declare_intrinsic(PAUSE, (), nothing), [])
        pointer = builder.inttoptr(given[0], INT.as_pointer())
        return builder.load_atomic(pointer, "seq_cst", align=8, typ=INT)

    return types.int64(types.int64), generate


def generate_way(typing: Any) -> tuple[Any, Generate]:
    """Let another thread have this core, if one is waiting for it."""

    def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        called = get_or_insert_function(builder.module, kind, YIELD)
        return builder.call(called, [])

    return types.int32(), generate


arrive, leave = counting(1), counting(-1)
look = cast(Callable[[int], int], intrinsic(generate_look))
give_way = cast(Callable[[], int], intrinsic(generate_way))


class Team(NamedTuple):
    """Who a thread is among those that share the work, and how often they have met before."""

    part: int
    parts: int
    counter: Places  # [1], how often one of them came to a meeting
    met: int = 0


@inlined
def meet(team: Team, meeting: int) -> int:
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
def share(count: int, team: Team) -> tuple[int, int]:
    """Which of so many a thread does: from, to."""
    return count * team.part // team.parts, count * (team.part + 1) // team.parts
