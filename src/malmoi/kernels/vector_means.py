"""The verbs of `means` in vectors, written for LLVM; see `vector_tiles`."""

from malmoi.kernels.emitting import NUMBER, WIDE, Array, Emitter
from malmoi.kernels.tiles import LANES, TILE
from malmoi.kernels.verbs import emitted


@emitted()
def score_mean(
    emit: Emitter,
    hidden: Array,
    contexts: Array,
    outputs: Array,
    targets: Array,
    mean: Array,
    scores: Array,
) -> None:
    """As `means.score_mean`."""
    count = contexts.shape[0]
    others = [emit.row(outputs, targets, i) for i in range(TILE)]
    share = emit.everywhere(emit.share(count), WIDE)
    *totals, window = emit.totals(TILE + 1)
    emit.clear(totals)
    with emit.loop(emit.divided(mean.shape[0], WIDE)) as chunk:
        offset = emit.times(chunk, NUMBER * WIDE)
        emit.clear([window])
        with emit.loop(count) as j:
            emit.add(window, emit.load(emit.plus(emit.row(hidden, contexts, j), offset)))
        numbers = emit.product(emit.total(window), share)
        emit.store(numbers, emit.plus(mean.address, offset))
        for other, total in zip(others, totals, strict=True):
            emit.add_product(total, numbers, emit.load(emit.plus(other, offset)))
    emit.store(emit.sums(totals, LANES), scores.address)


@emitted()
def move_mean(
    emit: Emitter,
    hidden: Array,
    contexts: Array,
    outputs: Array,
    targets: Array,
    coming: Array,
    mean: Array,
    steps: Array,
    _move: Array,
) -> None:
    """As `means.move_mean`; it needs no room for the move."""
    others = [emit.row(outputs, targets, i) for i in range(TILE)]
    following = [emit.row(outputs, coming, i) for i in range(TILE)]
    ways = [emit.spread(emit.plus(steps.address, NUMBER * i)) for i in range(TILE)]
    with emit.loop(emit.divided(mean.shape[0], WIDE)) as chunk:
        offset = emit.times(chunk, NUMBER * WIDE)
        places = [emit.plus(other, offset) for other in others]
        numbers = emit.load(emit.plus(mean.address, offset))
        for row in following:
            emit.ask_for(emit.plus(row, offset), to_write=True)
        moves = [emit.constant(0, WIDE)] * 2  # two sums do not wait for each other
        for i, (place, way) in enumerate(zip(places, ways, strict=True)):
            moves[i % 2] = emit.sum(emit.product(way, emit.load(place)), moves[i % 2])
        for place, way in zip(places, ways, strict=True):  # a target may be there twice
            emit.store(emit.sum(emit.product(way, numbers), emit.load(place)), place)
        move = emit.sum(*moves)
        with emit.loop(contexts.shape[0]) as j:
            place = emit.plus(emit.row(hidden, contexts, j), offset)
            emit.store(emit.sum(emit.load(place), move), place)
