"""The tiles of `tiles` in vectors that stay in registers, written for LLVM.

A plain loop loads and stores a row for every pair of a context and a target. Here a tile's
sums are held in registers: twelve at a time for scores (two contexts, six targets), and for
moves six targets with what they move by, while every context goes past; no loop says that.
Equal to the plain tiles but for the order of sums.
"""

from typing import Any

from malmoi.kernels.core.intrinsics import llvm_intrinsic
from malmoi.kernels.core.llvm import FLOAT_BYTES, SIMD_WIDTH, Array, Emitter
from malmoi.kernels.word2vec.tiles import ABOVE, BELOW, FARTHEST, LANES, TILE


@llvm_intrinsic()
def score_tile(
    emit: Emitter, hidden: Array, contexts: Array, outputs: Array, targets: Array, scores: Array
) -> None:
    """As `tiles.score_tile`."""
    count = contexts.shape[0]
    others = [emit.indexed_row_address(outputs, targets, i) for i in range(TILE)]
    totals = emit.new_sums(2 * TILE)
    with emit.loop(emit.divide(emit.add(count, 1), 2)) as pair:
        first = emit.multiply(pair, 2)
        second = emit.minimum(emit.add(first, 1), emit.add(count, -1))  # odd: itself again
        couple = (first, second)
        rows = [emit.indexed_row_address(hidden, contexts, place) for place in couple]
        emit.zero_sums(totals)
        with emit.loop(emit.divide(hidden.shape[1], SIMD_WIDTH)) as chunk:
            offset = emit.multiply(chunk, FLOAT_BYTES * SIMD_WIDTH)
            mine = [emit.load(emit.add(row, offset)) for row in rows]
            for i, other in enumerate(others):
                theirs = emit.load(emit.add(other, offset))
                for j, numbers in enumerate(mine):
                    emit.fma_to_sum(totals[TILE * j + i], numbers, theirs)
        for j, place in enumerate(couple):
            sums = emit.horizontal_sums(totals[TILE * j : TILE * (j + 1)], LANES)
            emit.store(sums, emit.row_address(scores, place))


@llvm_intrinsic()
def step_tile(
    emit: Emitter, scores: Array, count: Any, goals: Array, weights: Array, rate: Any
) -> None:
    """As `tiles.step_tile`."""
    aims = emit.load(goals.address, LANES)
    rates = emit.fmul(emit.load(weights.address, LANES), emit.broadcast(rate, LANES))
    half = emit.constant(0.5, LANES)
    with emit.loop(count) as j:
        place = emit.row_address(scores, j)
        score = emit.clamp(emit.load(place, LANES), FARTHEST)
        score = emit.fmul(score, half)
        square = emit.fmul(score, score)
        ratio = emit.fdiv(emit.polynomial(ABOVE, square), emit.polynomial(BELOW, square))
        chance = emit.fadd(emit.fmul(score, ratio), half)
        emit.store(emit.fmul(rates, emit.fsub(aims, chance)), place)


@llvm_intrinsic()
def move_tile(
    emit: Emitter,
    hidden: Array,
    contexts: Array,
    outputs: Array,
    targets: Array,
    coming: Array,
    steps: Array,
    _moves: Array,
) -> None:
    """As `tiles.move_tile`; it needs no room for moves."""
    others = [emit.indexed_row_address(outputs, targets, i) for i in range(TILE)]
    following = [emit.indexed_row_address(outputs, coming, i) for i in range(TILE)]
    totals = emit.new_sums(TILE)
    with emit.loop(emit.divide(hidden.shape[1], SIMD_WIDTH)) as chunk:
        offset = emit.multiply(chunk, FLOAT_BYTES * SIMD_WIDTH)
        places = [emit.add(other, offset) for other in others]
        theirs = [emit.load(place) for place in places]
        for row in following:
            emit.prefetch(emit.add(row, offset), to_write=True)
        emit.zero_sums(totals)
        with emit.loop(contexts.shape[0]) as j:
            place = emit.add(emit.indexed_row_address(hidden, contexts, j), offset)
            mine = emit.load(place)
            moved = [mine, emit.constant(0, SIMD_WIDTH)]  # two sums do not wait for each other
            for i, total in enumerate(totals):
                way = emit.load_broadcast(emit.add(emit.row_address(steps, j), FLOAT_BYTES * i))
                moved[i % 2] = emit.fadd(emit.fmul(way, theirs[i]), moved[i % 2])
                emit.fma_to_sum(total, way, mine)
            emit.store(emit.fadd(*moved), place)
        for place, total in zip(places, totals, strict=True):  # a target may be there twice
            emit.store(emit.fadd(emit.load(place), emit.load_sum(total)), place)
