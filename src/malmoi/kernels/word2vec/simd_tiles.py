"""The tiles of `tiles` in vectors that stay in registers, written for LLVM.

A plain loop loads and stores a row for every pair of a context and a target. Here a tile's
sums are held in registers: twelve at a time for scores (two contexts, six targets), and for
moves six targets with what they move by, while every context goes past; no loop says that.
Equal to the plain tiles but for the order of sums.
"""

from typing import Any

from malmoi.kernels.core.intrinsics import emitted
from malmoi.kernels.core.llvm import NUMBER, WIDE, Array, Emitter
from malmoi.kernels.word2vec.tiles import ABOVE, BELOW, FARTHEST, LANES, TILE


@emitted()
def score_tile(
    emit: Emitter, hidden: Array, contexts: Array, outputs: Array, targets: Array, scores: Array
) -> None:
    """As `tiles.score_tile`."""
    count = contexts.shape[0]
    others = [emit.row(outputs, targets, i) for i in range(TILE)]
    totals = emit.totals(2 * TILE)
    with emit.loop(emit.divided(emit.plus(count, 1), 2)) as pair:
        first = emit.times(pair, 2)
        second = emit.smaller(emit.plus(first, 1), emit.plus(count, -1))  # odd: itself again
        couple = (first, second)
        rows = [emit.row(hidden, contexts, place) for place in couple]
        emit.clear(totals)
        with emit.loop(emit.divided(hidden.shape[1], WIDE)) as chunk:
            offset = emit.times(chunk, NUMBER * WIDE)
            mine = [emit.load(emit.plus(row, offset)) for row in rows]
            for i, other in enumerate(others):
                theirs = emit.load(emit.plus(other, offset))
                for j, numbers in enumerate(mine):
                    emit.add_product(totals[TILE * j + i], numbers, theirs)
        for j, place in enumerate(couple):
            sums = emit.sums(totals[TILE * j : TILE * (j + 1)], LANES)
            emit.store(sums, emit.at(scores, place))


@emitted()
def step_tile(
    emit: Emitter, scores: Array, count: Any, goals: Array, weights: Array, rate: Any
) -> None:
    """As `tiles.step_tile`."""
    aims = emit.load(goals.address, LANES)
    rates = emit.product(emit.load(weights.address, LANES), emit.everywhere(rate, LANES))
    half = emit.constant(0.5, LANES)
    with emit.loop(count) as j:
        place = emit.at(scores, j)
        score = emit.clipped(emit.load(place, LANES), FARTHEST)
        score = emit.product(score, half)
        square = emit.product(score, score)
        ratio = emit.quotient(emit.polynomial(ABOVE, square), emit.polynomial(BELOW, square))
        chance = emit.sum(emit.product(score, ratio), half)
        emit.store(emit.product(rates, emit.difference(aims, chance)), place)


@emitted()
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
    others = [emit.row(outputs, targets, i) for i in range(TILE)]
    following = [emit.row(outputs, coming, i) for i in range(TILE)]
    totals = emit.totals(TILE)
    with emit.loop(emit.divided(hidden.shape[1], WIDE)) as chunk:
        offset = emit.times(chunk, NUMBER * WIDE)
        places = [emit.plus(other, offset) for other in others]
        theirs = [emit.load(place) for place in places]
        for row in following:
            emit.ask_for(emit.plus(row, offset), to_write=True)
        emit.clear(totals)
        with emit.loop(contexts.shape[0]) as j:
            place = emit.plus(emit.row(hidden, contexts, j), offset)
            mine = emit.load(place)
            moved = [mine, emit.constant(0, WIDE)]  # two sums do not wait for each other
            for i, total in enumerate(totals):
                way = emit.spread(emit.plus(emit.at(steps, j), NUMBER * i))
                moved[i % 2] = emit.sum(emit.product(way, theirs[i]), moved[i % 2])
                emit.add_product(total, way, mine)
            emit.store(emit.sum(*moved), place)
        for place, total in zip(places, totals, strict=True):  # a target may be there twice
            emit.store(emit.sum(emit.load(place), emit.total(total)), place)
