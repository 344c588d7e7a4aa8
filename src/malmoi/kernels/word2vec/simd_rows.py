"""The verbs of `rows` in vectors, written for LLVM; see `vector_tiles`."""

from malmoi.kernels.core.intrinsics import emitted
from malmoi.kernels.core.llvm import NUMBER, WIDE, Array, Emitter


@emitted()
def mean_of_rows(emit: Emitter, matrix: Array, rows: Array, out: Array) -> None:
    """As `rows.mean_of_rows`."""
    count = rows.shape[0]
    share = emit.everywhere(emit.share(count), WIDE)
    (total,) = emit.totals(1)
    with emit.loop(emit.divided(out.shape[0], WIDE)) as chunk:
        offset = emit.times(chunk, NUMBER * WIDE)
        emit.clear([total])
        with emit.loop(count) as i:
            emit.add(total, emit.load(emit.plus(emit.row(matrix, rows, i), offset)))
        emit.store(emit.product(emit.total(total), share), emit.plus(out.address, offset))


@emitted()
def weighted_mean(emit: Emitter, matrix: Array, rows: Array, weights: Array, out: Array) -> None:
    """As `rows.weighted_mean`."""
    count = rows.shape[0]
    weight, total = emit.totals(2)
    emit.clear([weight])
    with emit.loop(count) as i:
        emit.add(weight, emit.spread(emit.at(weights, i)))
    share = emit.quotient(emit.constant(1, WIDE), emit.total(weight))
    with emit.loop(emit.divided(out.shape[0], WIDE)) as chunk:
        offset = emit.times(chunk, NUMBER * WIDE)
        emit.clear([total])
        with emit.loop(count) as i:
            numbers = emit.load(emit.plus(emit.row(matrix, rows, i), offset))
            emit.add_product(total, emit.spread(emit.at(weights, i)), numbers)
        emit.store(emit.product(emit.total(total), share), emit.plus(out.address, offset))


@emitted()
def move_rows(emit: Emitter, matrix: Array, rows: Array, move: Array) -> None:
    """As `rows.move_rows`."""
    with emit.loop(rows.shape[0]) as i:
        row = emit.row(matrix, rows, i)
        with emit.loop(emit.divided(move.shape[0], WIDE)) as chunk:
            offset = emit.times(chunk, NUMBER * WIDE)
            place = emit.plus(row, offset)
            moved = emit.sum(emit.load(place), emit.load(emit.plus(move.address, offset)))
            emit.store(moved, place)
