"""How fast a core multiplies: the peak of FMA, and the share of it that our products reach."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.measure import Figure
from malmoi.arrays import Float32Array
from malmoi.encode.runtime.packed_weights import pack_float32, pack_int16
from malmoi.kernels.core.barrier import ThreadContext
from malmoi.kernels.core.intrinsics import llvm_intrinsic
from malmoi.kernels.core.jit import jit_norefcount
from malmoi.kernels.core.llvm import FLOAT_BYTES, SIMD_WIDTH, Array, Emitter
from malmoi.kernels.transformer import gemm_int16 as int16_kernels
from malmoi.kernels.transformer.dense import NO_ACTIVATION, dense_float32, dense_quantized
from malmoi.kernels.transformer.gemm_quantized import new_quantized_rows

CHAINS = 24 if SIMD_WIDTH == 16 else 12  # sums that do not wait for each other, as in a tile
STEPS, SLICES = 100_000, 200  # short slices: the best one is not disturbed
SIZES = (512, 384, 1536)  # rows, depth, columns: MiniLM's widest product of one batch


@llvm_intrinsic()
def multiply_add(emit: Emitter, numbers: Array, steps: Any) -> None:
    """So many FMAs in each chain, all in registers."""
    places = [
        emit.add(numbers.address, FLOAT_BYTES * SIMD_WIDTH * chain) for chain in range(CHAINS)
    ]
    totals = emit.new_sums(CHAINS)
    emit.zero_sums(totals)
    left, right = emit.load(places[0]), emit.load(places[1])
    with emit.loop(steps):
        for total in totals:
            emit.fma_to_sum(total, left, right)
    for place, total in zip(places, totals, strict=True):
        emit.store(emit.load_sum(total), place)


@jit_norefcount
def run_chains(numbers: Float32Array, steps: int) -> None:
    """See `multiply_add`."""
    multiply_add(numbers, steps)


def shares_of_peak(instructions: str) -> list[Figure]:
    """Products of floats and, where they exist, of int16, beside the peak of one core."""
    rows, depth, columns = SIZES
    random = np.random.default_rng(0)
    left, matrix, bias = (
        random.normal(size=size).astype(np.float32)
        for size in ((rows, depth), (depth, columns), columns)
    )
    floats, team = pack_float32([(matrix, bias)]), ThreadContext(0, 1, np.zeros(1, np.int64))
    out, none = (
        np.zeros((rows, floats.biases.shape[1]), np.float32),
        new_quantized_rows(0, 0, np.uint8),
    )
    numbers = np.zeros(CHAINS * SIMD_WIDTH, np.float32)
    tasks: dict[str, Callable[[], object]] = {
        "peak": lambda: run_chains(numbers, STEPS),
        "float32": lambda: dense_float32(left, floats, 0, out, none, team, NO_ACTIVATION),
    }
    if int16_kernels.IS_SUPPORTED:
        integers, workspace = (
            pack_int16([(matrix, bias)]),
            new_quantized_rows(rows, depth, np.int16),
        )
        tasks["int16"] = lambda: dense_quantized(
            left, integers, 0, out, workspace, team, NO_ACTIVATION
        )
    best = dict.fromkeys(tasks, float("inf"))
    for task in tasks.values():
        task()  # compiled
    for _ in range(SLICES):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            best[name] = min(best[name], time.perf_counter() - start)
    speed = {name: rows * depth * columns / best[name] for name in tasks}
    speed["peak"] = STEPS * CHAINS * SIMD_WIDTH / best["peak"]
    return [
        Figure(
            name=f"{name} product, {instructions}",
            ours=f"{100 * speed[name] / speed['peak']:.0f} %",
            remark=f"{name} product, {instructions}, one core: {speed[name] / 1e9:.0f} billion"
            f" multiply-adds a second; the peak of FMA is {speed['peak'] / 1e9:.0f}.",
        )
        for name in tasks
        if name != "peak"
    ]
