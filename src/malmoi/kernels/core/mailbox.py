"""Threads that stand by inside a kernel, so that Python's lock is not in their way to work.

A board has the number of the job that was given last. Who stands by looks at it for a while,
and then sleeps at a pipe until somebody rings: waking a thread takes the system a tenth of a
millisecond, which is why it may be rung for before the work is there.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function

from malmoi.arrays import Int64Array
from malmoi.kernels.core.barrier import PATIENCE, arrive, give_way, leave, look
from malmoi.kernels.core.intrinsics import emitted
from malmoi.kernels.core.jit import inlined
from malmoi.kernels.core.llvm import INT, Emitter

BYTE, NUMBER = ir.IntType(8), ir.IntType(32)
LINE = 16  # numbers, two lines of the processor's cache: apart what several write to
JOB, ASLEEP, COUNTER = 0, LINE, 2 * LINE
MET, PIECES, TEXTS, STATES = range(3 * LINE, 3 * LINE + 4)
SIZE = 4 * LINE
STAY = 6000  # looks, some tenths of a millisecond
NO_MORE = -1  # pieces of a job that is none: go home


def at_pipe(name: str) -> Callable[[int], int]:
    """POSIX's `read` or `write` of one byte."""

    @emitted(types.int64)
    def call(emit: Emitter, pipe: Any) -> Any:
        kind = ir.FunctionType(INT, [NUMBER, BYTE.as_pointer(), INT])
        called = get_or_insert_function(emit.builder.module, kind, name)
        return emit.builder.call(
            called, [emit.builder.trunc(pipe, NUMBER), emit.place(BYTE), INT(1)]
        )

    return call


sleep_at, ring = at_pipe("read"), at_pipe("write")


def new_board(pieces: int = 0, texts: int = 0) -> Int64Array:
    """Nothing was given yet; a batch may stand there already."""
    board = np.zeros(SIZE, np.int64)
    board[PIECES], board[TEXTS] = pieces, texts
    return board


@inlined
def place(board: Int64Array, line: int) -> int:
    """Where a number of the board is, for those who look at the same time."""
    return board.ctypes.data + line * 8


@inlined
def give(board: Int64Array, pipe: int) -> None:
    """What stands on the board is the next job, for all."""
    arrive(place(board, JOB))
    for _ in range(look(place(board, ASLEEP))):
        ring(pipe)


@inlined
def await_job(board: Int64Array, last: int, pipe: int) -> int:
    """Wait for the job after the last one; its number."""
    looks = 0
    while look(place(board, JOB)) == last:
        looks += 1
        if looks > PATIENCE:
            give_way()
        if looks > STAY:
            arrive(place(board, ASLEEP))
            if look(place(board, JOB)) == last:  # whoever gives one from now on rings
                sleep_at(pipe)
            leave(place(board, ASLEEP))
            looks = 0
    return last + 1
