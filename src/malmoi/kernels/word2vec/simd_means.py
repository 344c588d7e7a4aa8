"""The verbs of `means` in vectors, written for LLVM; see `vector_tiles`."""

from malmoi.kernels.core.intrinsics import llvm_intrinsic
from malmoi.kernels.core.llvm import FLOAT_BYTES, SIMD_WIDTH, Array, Emitter
from malmoi.kernels.word2vec.tiles import LANES, TILE


@llvm_intrinsic()
def score_mean(emit: Emitter, mean: Array, outputs: Array, targets: Array, scores: Array) -> None:
    """As `means.score_mean`."""
    others = [emit.indexed_row_address(outputs, targets, i) for i in range(TILE)]
    totals = emit.new_sums(TILE)
    emit.zero_sums(totals)
    with emit.loop(emit.divide(mean.shape[0], SIMD_WIDTH)) as chunk:
        offset = emit.multiply(chunk, FLOAT_BYTES * SIMD_WIDTH)
        numbers = emit.load(emit.add(mean.address, offset))
        for other, total in zip(others, totals, strict=True):
            emit.fma_to_sum(total, numbers, emit.load(emit.add(other, offset)))
    emit.store(emit.horizontal_sums(totals, LANES), scores.address)


@llvm_intrinsic()
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
    others = [emit.indexed_row_address(outputs, targets, i) for i in range(TILE)]
    following = [emit.indexed_row_address(outputs, coming, i) for i in range(TILE)]
    ways = [emit.load_broadcast(emit.add(steps.address, FLOAT_BYTES * i)) for i in range(TILE)]
    with emit.loop(emit.divide(mean.shape[0], SIMD_WIDTH)) as chunk:
        offset = emit.multiply(chunk, FLOAT_BYTES * SIMD_WIDTH)
        places = [emit.add(other, offset) for other in others]
        numbers = emit.load(emit.add(mean.address, offset))
        for row in following:
            emit.prefetch(emit.add(row, offset), to_write=True)
        place = emit.add(move.address, offset)
        moves = [
            emit.load(place),
            emit.constant(0, SIMD_WIDTH),
        ]  # two sums do not wait for each other
        for i, (target, way) in enumerate(zip(places, ways, strict=True)):
            moves[i % 2] = emit.fadd(emit.fmul(way, emit.load(target)), moves[i % 2])
        emit.store(emit.fadd(*moves), place)
        for target, way in zip(places, ways, strict=True):  # one may be there twice
            emit.store(emit.fadd(emit.fmul(way, numbers), emit.load(target)), target)
