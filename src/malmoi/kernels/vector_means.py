"""The verbs of `means` in vectors, written for LLVM; see `vector_tiles`."""

from collections.abc import Callable
from typing import Any, cast

from numba import types
from numba.extending import intrinsic

from malmoi.kernels.compiled import inlined
from malmoi.kernels.emitting import NUMBER, WIDE, Emitter
from malmoi.kernels.text_rows import Matrix
from malmoi.kernels.tiles import LANES, TILE, Rows

Generate = Callable[[Any, Any, Any, Any], Any]


def generate_scores(
    typing: Any,
    hidden: Any,
    contexts: Any,
    count: Any,
    outputs: Any,
    targets: Any,
    mean: Any,
    scores: Any,
    width: Any,
) -> tuple[Any, Generate]:
    """`means.score_mean`; arrays are given by their addresses."""

    def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
        emit = Emitter(builder)
        hidden, contexts, count, outputs, targets, mean, scores, width = given
        size = emit.times(width, NUMBER)
        others = [emit.row(outputs, targets, i, size) for i in range(TILE)]
        share = emit.everywhere(emit.share(count), WIDE)
        *totals, window = emit.totals(TILE + 1)
        emit.clear(totals)
        with emit.loop(emit.divided(width, WIDE)) as chunk:
            offset = emit.times(chunk, NUMBER * WIDE)
            emit.clear([window])
            with emit.loop(count) as j:
                row = emit.row(hidden, contexts, j, size)
                numbers = emit.load(emit.plus(row, offset))
                builder.store(emit.sum(emit.total(window), numbers), window)
            numbers = emit.product(emit.total(window), share)
            emit.store(numbers, emit.plus(mean, offset))
            for other, total in zip(others, totals, strict=True):
                emit.add_to(total, numbers, emit.load(emit.plus(other, offset)))
        emit.store(emit.sums(totals, LANES), scores)
        return target.get_dummy_value()

    return types.void(*[types.int64] * 8), generate


def generate_moves(
    typing: Any,
    hidden: Any,
    contexts: Any,
    count: Any,
    outputs: Any,
    targets: Any,
    coming: Any,
    mean: Any,
    steps: Any,
    width: Any,
) -> tuple[Any, Generate]:
    """`means.move_mean`; arrays are given by their addresses."""

    def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
        emit = Emitter(builder)
        hidden, contexts, count, outputs, targets, coming, mean, steps, width = given
        size = emit.times(width, NUMBER)
        others = [emit.row(outputs, targets, i, size) for i in range(TILE)]
        following = [emit.row(outputs, coming, i, size) for i in range(TILE)]
        ways = [emit.load(emit.plus(steps, NUMBER * i), 1) for i in range(TILE)]
        ways = [emit.everywhere(way, WIDE) for way in ways]
        with emit.loop(emit.divided(width, WIDE)) as chunk:
            offset = emit.times(chunk, NUMBER * WIDE)
            places = [emit.plus(other, offset) for other in others]
            numbers = emit.load(emit.plus(mean, offset))
            for row in following:
                emit.ask_for(emit.plus(row, offset), to_write=True)
            moves = [emit.constant(0, WIDE)] * 2  # two sums do not wait for each other
            for i, (place, way) in enumerate(zip(places, ways, strict=True)):
                moves[i % 2] = emit.sum(emit.product(way, emit.load(place)), moves[i % 2])
            for place, way in zip(places, ways, strict=True):  # a target may be there twice
                emit.store(emit.sum(emit.product(way, numbers), emit.load(place)), place)
            move = emit.sum(*moves)
            with emit.loop(count) as j:
                place = emit.plus(emit.row(hidden, contexts, j, size), offset)
                emit.store(emit.sum(emit.load(place), move), place)
        return target.get_dummy_value()

    return types.void(*[types.int64] * 9), generate


emit_scores = cast(Callable[..., None], intrinsic(generate_scores))
emit_moves = cast(Callable[..., None], intrinsic(generate_moves))


@inlined
def score_mean(
    hidden: Matrix, contexts: Rows, outputs: Matrix, targets: Rows, mean: Matrix, scores: Matrix
) -> None:
    """As `means.score_mean`."""
    emit_scores(
        hidden.ctypes.data,
        contexts.ctypes.data,
        len(contexts),
        outputs.ctypes.data,
        targets.ctypes.data,
        mean.ctypes.data,
        scores.ctypes.data,
        len(mean),
    )


@inlined
def move_mean(
    hidden: Matrix,
    contexts: Rows,
    outputs: Matrix,
    targets: Rows,
    coming: Rows,
    mean: Matrix,
    steps: Matrix,
    move: Matrix,
) -> None:
    """As `means.move_mean`; it needs no room for the move."""
    emit_moves(
        hidden.ctypes.data,
        contexts.ctypes.data,
        len(contexts),
        outputs.ctypes.data,
        targets.ctypes.data,
        coming.ctypes.data,
        mean.ctypes.data,
        steps.ctypes.data,
        len(mean),
    )
