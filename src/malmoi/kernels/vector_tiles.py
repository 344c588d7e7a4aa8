"""The tiles of `tiles` in vectors that stay in registers, written for LLVM.

A plain loop loads and stores a row for every pair of a context and a target. Here a tile's
sums are held in registers: twelve at a time for scores (two contexts, six targets), and for
moves six targets with what they move by, while every context goes past; no loop says that.
Equal to the plain tiles but for the order of sums.
"""

from collections.abc import Callable
from typing import Any, cast

from numba import types
from numba.extending import intrinsic

from malmoi.kernels.compiled import inlined
from malmoi.kernels.emitting import NUMBER, WIDE, Emitter
from malmoi.kernels.text_rows import Matrix
from malmoi.kernels.tiles import ABOVE, BELOW, FARTHEST, LANES, TILE, Rows

Generate = Callable[[Any, Any, Any, Any], Any]
ROW_OF_SCORES = NUMBER * LANES


def generate_scores(
    typing: Any,
    hidden: Any,
    contexts: Any,
    count: Any,
    outputs: Any,
    targets: Any,
    scores: Any,
    width: Any,
) -> tuple[Any, Generate]:
    """`tiles.score_tile`; arrays are given by their addresses."""

    def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
        emit = Emitter(builder)
        hidden, contexts, count, outputs, targets, scores, width = given
        size = emit.times(width, NUMBER)
        others = [emit.row(outputs, targets, i, size) for i in range(TILE)]
        totals = emit.totals(2 * TILE)
        with emit.loop(emit.divided(emit.plus(count, 1), 2)) as pair:
            first = emit.times(pair, 2)
            second = emit.smaller(emit.plus(first, 1), emit.plus(count, -1))  # odd: itself again
            couple = (first, second)
            rows = [emit.row(hidden, contexts, place, size) for place in couple]
            emit.clear(totals)
            with emit.loop(emit.divided(width, WIDE)) as chunk:
                offset = emit.times(chunk, NUMBER * WIDE)
                mine = [emit.load(emit.plus(row, offset)) for row in rows]
                for i, other in enumerate(others):
                    theirs = emit.load(emit.plus(other, offset))
                    for j, numbers in enumerate(mine):
                        emit.add_to(totals[TILE * j + i], numbers, theirs)
            for j, place in enumerate(couple):
                sums = emit.sums(totals[TILE * j : TILE * (j + 1)], LANES)
                emit.store(sums, emit.plus(scores, emit.times(place, ROW_OF_SCORES)))
        return target.get_dummy_value()

    return types.void(*[types.int64] * 7), generate


def generate_steps(
    typing: Any, scores: Any, count: Any, goals: Any, weights: Any, rate: Any
) -> tuple[Any, Generate]:
    """`tiles.step_tile`; arrays are given by their addresses."""

    def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
        emit = Emitter(builder)
        scores, count, goals, weights, rate = given
        aims = emit.load(goals, LANES)
        rates = emit.product(emit.load(weights, LANES), emit.everywhere(rate, LANES))
        half = emit.constant(0.5, LANES)
        with emit.loop(count) as j:
            place = emit.plus(scores, emit.times(j, ROW_OF_SCORES))
            score = emit.clipped(emit.load(place, LANES), FARTHEST)
            score = emit.product(score, half)
            square = emit.product(score, score)
            ratio = emit.quotient(emit.polynomial(ABOVE, square), emit.polynomial(BELOW, square))
            chance = emit.sum(emit.product(score, ratio), half)
            emit.store(emit.product(rates, emit.difference(aims, chance)), place)
        return target.get_dummy_value()

    numbers = types.int64
    return types.void(numbers, numbers, numbers, numbers, types.float32), generate


def generate_moves(
    typing: Any,
    hidden: Any,
    contexts: Any,
    count: Any,
    outputs: Any,
    targets: Any,
    coming: Any,
    steps: Any,
    width: Any,
) -> tuple[Any, Generate]:
    """`tiles.move_tile`; arrays are given by their addresses."""

    def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
        emit = Emitter(builder)
        hidden, contexts, count, outputs, targets, coming, steps, width = given
        size = emit.times(width, NUMBER)
        others = [emit.row(outputs, targets, i, size) for i in range(TILE)]
        following = [emit.row(outputs, coming, i, size) for i in range(TILE)]
        totals = emit.totals(TILE)
        with emit.loop(emit.divided(width, WIDE)) as chunk:
            offset = emit.times(chunk, NUMBER * WIDE)
            places = [emit.plus(other, offset) for other in others]
            theirs = [emit.load(place) for place in places]
            for row in following:
                emit.ask_for(emit.plus(row, offset), to_write=True)
            emit.clear(totals)
            with emit.loop(count) as j:
                row = emit.row(hidden, contexts, j, size)
                mine = emit.load(emit.plus(row, offset))
                moved = [mine, emit.constant(0, WIDE)]  # two sums do not wait for each other
                for i, total in enumerate(totals):
                    place = emit.plus(steps, emit.times(j, ROW_OF_SCORES), NUMBER * i)
                    step = emit.everywhere(emit.load(place, 1), WIDE)
                    moved[i % 2] = emit.sum(emit.product(step, theirs[i]), moved[i % 2])
                    emit.add_to(total, step, mine)
                emit.store(emit.sum(*moved), emit.plus(row, offset))
            for place, total in zip(places, totals, strict=True):  # a target may be there twice
                emit.store(emit.sum(emit.load(place), emit.total(total)), place)
        return target.get_dummy_value()

    return types.void(*[types.int64] * 8), generate


emit_scores = cast(Callable[..., None], intrinsic(generate_scores))
emit_steps = cast(Callable[..., None], intrinsic(generate_steps))
emit_moves = cast(Callable[..., None], intrinsic(generate_moves))


@inlined
def score_tile(
    hidden: Matrix, contexts: Rows, count: int, outputs: Matrix, targets: Rows, scores: Matrix
) -> None:
    """As `tiles.score_tile`."""
    emit_scores(
        hidden.ctypes.data,
        contexts.ctypes.data,
        count,
        outputs.ctypes.data,
        targets.ctypes.data,
        scores.ctypes.data,
        hidden.shape[1],
    )


@inlined
def step_tile(scores: Matrix, count: int, goals: Matrix, weights: Matrix, rate: float) -> None:
    """As `tiles.step_tile`."""
    emit_steps(scores.ctypes.data, count, goals.ctypes.data, weights.ctypes.data, rate)


@inlined
def move_tile(
    hidden: Matrix,
    contexts: Rows,
    count: int,
    outputs: Matrix,
    targets: Rows,
    coming: Rows,
    steps: Matrix,
    moves: Matrix,
) -> None:
    """As `tiles.move_tile`; it needs no room for moves."""
    emit_moves(
        hidden.ctypes.data,
        contexts.ctypes.data,
        count,
        outputs.ctypes.data,
        targets.ctypes.data,
        coming.ctypes.data,
        steps.ctypes.data,
        hidden.shape[1],
    )
