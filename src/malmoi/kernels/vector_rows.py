"""The verbs of `rows` in vectors, written for LLVM; see `vector_tiles`."""

from collections.abc import Callable
from typing import Any, cast

from numba import types
from numba.extending import intrinsic

from malmoi.kernels.compiled import inlined
from malmoi.kernels.emitting import NUMBER, WIDE, Emitter
from malmoi.kernels.text_rows import Matrix
from malmoi.kernels.tiles import Rows

Generate = Callable[[Any, Any, Any, Any], Any]


def generate_mean(
    typing: Any, matrix: Any, rows: Any, count: Any, out: Any, width: Any
) -> tuple[Any, Generate]:
    """`rows.mean_of_rows`; arrays are given by their addresses."""

    def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
        emit = Emitter(builder)
        matrix, rows, count, out, width = given
        size = emit.times(width, NUMBER)
        share = emit.everywhere(emit.share(count), WIDE)
        (total,) = emit.totals(1)
        with emit.loop(emit.divided(width, WIDE)) as chunk:
            offset = emit.times(chunk, NUMBER * WIDE)
            emit.clear([total])
            with emit.loop(count) as i:
                row = emit.row(matrix, rows, i, size)
                builder.store(emit.sum(emit.total(total), emit.load(emit.plus(row, offset))), total)
            emit.store(emit.product(emit.total(total), share), emit.plus(out, offset))
        return target.get_dummy_value()

    return types.void(*[types.int64] * 5), generate


def generate_move(
    typing: Any, matrix: Any, rows: Any, count: Any, move: Any, width: Any
) -> tuple[Any, Generate]:
    """`rows.move_rows`; arrays are given by their addresses."""

    def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
        emit = Emitter(builder)
        matrix, rows, count, move, width = given
        size = emit.times(width, NUMBER)
        with emit.loop(count) as i:
            row = emit.row(matrix, rows, i, size)
            with emit.loop(emit.divided(width, WIDE)) as chunk:
                offset = emit.times(chunk, NUMBER * WIDE)
                place = emit.plus(row, offset)
                emit.store(emit.sum(emit.load(place), emit.load(emit.plus(move, offset))), place)
        return target.get_dummy_value()

    return types.void(*[types.int64] * 5), generate


emit_mean = cast(Callable[..., None], intrinsic(generate_mean))
emit_move = cast(Callable[..., None], intrinsic(generate_move))


@inlined
def mean_of_rows(matrix: Matrix, rows: Rows, out: Matrix) -> None:
    """As `rows.mean_of_rows`."""
    emit_mean(matrix.ctypes.data, rows.ctypes.data, len(rows), out.ctypes.data, len(out))


@inlined
def move_rows(matrix: Matrix, rows: Rows, move: Matrix) -> None:
    """As `rows.move_rows`."""
    emit_move(matrix.ctypes.data, rows.ctypes.data, len(rows), move.ctypes.data, len(move))
