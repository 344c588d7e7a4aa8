"""The verbs of `means` in vectors, written for LLVM; see `vector_tiles`."""

from malmoi.kernels.core.intrinsics import emitted
from malmoi.kernels.core.llvm import NUMBER, WIDE, Array, Emitter
from malmoi.kernels.word2vec.tiles import LANES, TILE


@emitted()
def score_mean(emit: Emitter, mean: Array, outputs: Array, targets: Array, scores: Array) -> None:
    """As `means.score_mean`."""
    others = [emit.row(outputs, targets, i) for i in range(TILE)]
    totals = emit.totals(TILE)
    emit.clear(totals)
    with emit.loop(emit.divided(mean.shape[0], WIDE)) as chunk:
        offset = emit.times(chunk, NUMBER * WIDE)
        numbers = emit.load(emit.plus(mean.address, offset))
        for other, total in zip(others, totals, strict=True):
            emit.add_product(total, numbers, emit.load(emit.plus(other, offset)))
    emit.store(emit.sums(totals, LANES), scores.address)


@emitted()
def move_targets(
    emit: Emitter,
    mean: Array,
    outputs: Array,
    targets: Array,
    coming: Array,
    steps: Array,
    move: Array,
) -> None:
    """As `means.move_targets`."""
    others = [emit.row(outputs, targets, i) for i in range(TILE)]
    following = [emit.row(outputs, coming, i) for i in range(TILE)]
    ways = [emit.spread(emit.plus(steps.address, NUMBER * i)) for i in range(TILE)]
    with emit.loop(emit.divided(mean.shape[0], WIDE)) as chunk:
        offset = emit.times(chunk, NUMBER * WIDE)
        places = [emit.plus(other, offset) for other in others]
        numbers = emit.load(emit.plus(mean.address, offset))
        for row in following:
            emit.ask_for(emit.plus(row, offset), to_write=True)
        place = emit.plus(move.address, offset)
        moves = [emit.load(place), emit.constant(0, WIDE)]  # two sums do not wait for each other
        for i, (target, way) in enumerate(zip(places, ways, strict=True)):
            moves[i % 2] = emit.sum(emit.product(way, emit.load(target)), moves[i % 2])
        emit.store(emit.sum(*moves), place)
        for target, way in zip(places, ways, strict=True):  # one may be there twice
            emit.store(emit.sum(emit.product(way, numbers), emit.load(target)), target)
