"""The functions of `rows` in SIMD, emitted as LLVM IR; see `simd_tiles`."""

from malmoi.kernels.core.intrinsics import llvm_intrinsic
from malmoi.kernels.core.llvm import FLOAT_BYTES, SIMD_WIDTH, Array, Emitter


@llvm_intrinsic()
def mean_of_rows(emit: Emitter, matrix: Array, rows: Array, out: Array) -> None:
    """As `rows.mean_of_rows`."""
    count = rows.shape[0]
    share = emit.broadcast(emit.reciprocal(count), SIMD_WIDTH)
    (total,) = emit.new_sums(1)
    with emit.loop(emit.divide(out.shape[0], SIMD_WIDTH)) as chunk:
        offset = emit.multiply(chunk, FLOAT_BYTES * SIMD_WIDTH)
        emit.zero_sums([total])
        with emit.loop(count) as i:
            emit.add_to_sum(
                total, emit.load(emit.add(emit.indexed_row_address(matrix, rows, i), offset))
            )
        emit.store(emit.fmul(emit.load_sum(total), share), emit.add(out.address, offset))


@llvm_intrinsic()
def weighted_mean(emit: Emitter, matrix: Array, rows: Array, weights: Array, out: Array) -> None:
    """As `rows.weighted_mean`."""
    count = rows.shape[0]
    weight, total = emit.new_sums(2)
    emit.zero_sums([weight])
    with emit.loop(count) as i:
        emit.add_to_sum(weight, emit.load_broadcast(emit.row_address(weights, i)))
    share = emit.fdiv(emit.constant(1, SIMD_WIDTH), emit.load_sum(weight))
    with emit.loop(emit.divide(out.shape[0], SIMD_WIDTH)) as chunk:
        offset = emit.multiply(chunk, FLOAT_BYTES * SIMD_WIDTH)
        emit.zero_sums([total])
        with emit.loop(count) as i:
            floats = emit.load(emit.add(emit.indexed_row_address(matrix, rows, i), offset))
            emit.fma_to_sum(total, emit.load_broadcast(emit.row_address(weights, i)), floats)
        emit.store(emit.fmul(emit.load_sum(total), share), emit.add(out.address, offset))


@llvm_intrinsic()
def move_rows(emit: Emitter, matrix: Array, rows: Array, move: Array) -> None:
    """As `rows.move_rows`."""
    with emit.loop(rows.shape[0]) as i:
        row = emit.indexed_row_address(matrix, rows, i)
        with emit.loop(emit.divide(move.shape[0], SIMD_WIDTH)) as chunk:
            offset = emit.multiply(chunk, FLOAT_BYTES * SIMD_WIDTH)
            address = emit.add(row, offset)
            moved = emit.fadd(emit.load(address), emit.load(emit.add(move.address, offset)))
            emit.store(moved, address)
