"""The functions of `tiles` in SIMD, emitted as LLVM IR, with sums that stay in registers.

A plain loop loads and stores a row for every pair of a context and a target. Here a tile's
sums stay in registers: twelve at a time for scores (two contexts, six targets), and six targets
with their updates while the loop visits every context. Compilers do not find this from loops.
The results equal those of the plain tiles except for the order of sums.
"""

from typing import Any

from malmoi.kernels.core.intrinsics import llvm_intrinsic
from malmoi.kernels.core.llvm import FLOAT_BYTES, SIMD_WIDTH, Array, Emitter
from malmoi.kernels.word2vec.tiles import LANES, MAX_SCORE, TANH_DENOMINATOR, TANH_NUMERATOR, TILE


@llvm_intrinsic()
def score_tile(
    emit: Emitter, hidden: Array, contexts: Array, outputs: Array, targets: Array, scores: Array
) -> None:
    """As `tiles.score_tile`."""
    count = contexts.shape[0]
    target_rows = [emit.indexed_row_address(outputs, targets, i) for i in range(TILE)]
    totals = emit.new_sums(2 * TILE)
    with emit.loop(emit.divide(emit.add(count, 1), 2)) as pair:
        first = emit.multiply(pair, 2)
        # An odd last context pairs with itself.
        second = emit.minimum(emit.add(first, 1), emit.add(count, -1))
        couple = (first, second)
        rows = [emit.indexed_row_address(hidden, contexts, index) for index in couple]
        emit.zero_sums(totals)
        with emit.loop(emit.divide(hidden.shape[1], SIMD_WIDTH)) as chunk:
            offset = emit.multiply(chunk, FLOAT_BYTES * SIMD_WIDTH)
            context_floats = [emit.load(emit.add(row, offset)) for row in rows]
            for i, row in enumerate(target_rows):
                target_floats = emit.load(emit.add(row, offset))
                for j, floats in enumerate(context_floats):
                    emit.fma_to_sum(totals[TILE * j + i], floats, target_floats)
        for j, index in enumerate(couple):
            sums = emit.horizontal_sums(totals[TILE * j : TILE * (j + 1)], LANES)
            emit.store(sums, emit.row_address(scores, index))


@llvm_intrinsic()
def step_tile(
    emit: Emitter, scores: Array, count: Any, labels: Array, weights: Array, rate: Any
) -> None:
    """As `tiles.step_tile`."""
    expected = emit.load(labels.address, LANES)
    rates = emit.fmul(emit.load(weights.address, LANES), emit.broadcast(rate, LANES))
    half = emit.constant(0.5, LANES)
    with emit.loop(count) as j:
        address = emit.row_address(scores, j)
        score = emit.clamp(emit.load(address, LANES), MAX_SCORE)
        score = emit.fmul(score, half)
        square = emit.fmul(score, score)
        ratio = emit.fdiv(
            emit.polynomial(TANH_NUMERATOR, square), emit.polynomial(TANH_DENOMINATOR, square)
        )
        probability = emit.fadd(emit.fmul(score, ratio), half)
        emit.store(emit.fmul(rates, emit.fsub(expected, probability)), address)


@llvm_intrinsic()
def move_tile(
    emit: Emitter,
    hidden: Array,
    contexts: Array,
    outputs: Array,
    targets: Array,
    next_targets: Array,
    steps: Array,
    _moves: Array,
) -> None:
    """As `tiles.move_tile`; it does not need the buffer."""
    target_rows = [emit.indexed_row_address(outputs, targets, i) for i in range(TILE)]
    next_rows = [emit.indexed_row_address(outputs, next_targets, i) for i in range(TILE)]
    totals = emit.new_sums(TILE)
    with emit.loop(emit.divide(hidden.shape[1], SIMD_WIDTH)) as chunk:
        offset = emit.multiply(chunk, FLOAT_BYTES * SIMD_WIDTH)
        addresses = [emit.add(row, offset) for row in target_rows]
        old_targets = [emit.load(address) for address in addresses]
        for row in next_rows:
            emit.prefetch(emit.add(row, offset), to_write=True)
        emit.zero_sums(totals)
        with emit.loop(contexts.shape[0]) as j:
            address = emit.add(emit.indexed_row_address(hidden, contexts, j), offset)
            old_context = emit.load(address)
            # Two sums, so that their additions do not wait for each other.
            moved = [old_context, emit.constant(0, SIMD_WIDTH)]
            for i, total in enumerate(totals):
                step = emit.load_broadcast(emit.add(emit.row_address(steps, j), FLOAT_BYTES * i))
                moved[i % 2] = emit.fadd(emit.fmul(step, old_targets[i]), moved[i % 2])
                emit.fma_to_sum(total, step, old_context)
            emit.store(emit.fadd(*moved), address)
        for address, total in zip(addresses, totals, strict=True):  # a target may occur twice
            emit.store(emit.fadd(emit.load(address), emit.load_sum(total)), address)
