"""The functions of `means` in SIMD, emitted as LLVM IR; see `simd_tiles`."""

from malmoi.kernels.core.intrinsics import llvm_intrinsic
from malmoi.kernels.core.llvm import FLOAT_BYTES, SIMD_WIDTH, Array, Emitter
from malmoi.kernels.word2vec.tiles import LANES, TILE


@llvm_intrinsic()
def score_mean(emit: Emitter, mean: Array, outputs: Array, targets: Array, scores: Array) -> None:
    """As `means.score_mean`."""
    target_rows = [emit.indexed_row_address(outputs, targets, i) for i in range(TILE)]
    totals = emit.new_sums(TILE)
    emit.zero_sums(totals)
    with emit.loop(emit.divide(mean.shape[0], SIMD_WIDTH)) as chunk:
        offset = emit.multiply(chunk, FLOAT_BYTES * SIMD_WIDTH)
        floats = emit.load(emit.add(mean.address, offset))
        for row, total in zip(target_rows, totals, strict=True):
            emit.fma_to_sum(total, floats, emit.load(emit.add(row, offset)))
    emit.store(emit.horizontal_sums(totals, LANES), scores.address)


@llvm_intrinsic()
def move_targets(
    emit: Emitter,
    mean: Array,
    outputs: Array,
    targets: Array,
    next_targets: Array,
    steps: Array,
    move: Array,
) -> None:
    """As `means.move_targets`."""
    target_rows = [emit.indexed_row_address(outputs, targets, i) for i in range(TILE)]
    next_rows = [emit.indexed_row_address(outputs, next_targets, i) for i in range(TILE)]
    step_floats = [
        emit.load_broadcast(emit.add(steps.address, FLOAT_BYTES * i)) for i in range(TILE)
    ]
    with emit.loop(emit.divide(mean.shape[0], SIMD_WIDTH)) as chunk:
        offset = emit.multiply(chunk, FLOAT_BYTES * SIMD_WIDTH)
        addresses = [emit.add(row, offset) for row in target_rows]
        floats = emit.load(emit.add(mean.address, offset))
        for row in next_rows:
            emit.prefetch(emit.add(row, offset), to_write=True)
        move_address = emit.add(move.address, offset)
        # Two sums, so that their additions do not wait for each other.
        moves = [emit.load(move_address), emit.constant(0, SIMD_WIDTH)]
        for i, (address, step) in enumerate(zip(addresses, step_floats, strict=True)):
            moves[i % 2] = emit.fadd(emit.fmul(step, emit.load(address)), moves[i % 2])
        emit.store(emit.fadd(*moves), move_address)
        for address, step in zip(addresses, step_floats, strict=True):  # a target may occur twice
            emit.store(emit.fadd(emit.fmul(step, floats), emit.load(address)), address)
