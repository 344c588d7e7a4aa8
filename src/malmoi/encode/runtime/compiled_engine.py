"""The engine that is compiled here, for processors with AVX2 and FMA: no step is padded.

Imports Numba: not for a first question.
"""

import os
from collections.abc import Sequence
from functools import cache, partial
from threading import Lock

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.checkpoint.config import Config
from malmoi.encode.checkpoint.weights import Weights
from malmoi.encode.pooling.groups import group_bounds
from malmoi.encode.protocol import Arithmetic
from malmoi.encode.runtime.batches import BUDGET, PackedBatch
from malmoi.encode.runtime.packed_weights import network_of
from malmoi.encode.runtime.worker_group import WorkerGroup
from malmoi.kernels.core.llvm import WIDE
from malmoi.kernels.core.mailbox import new_board
from malmoi.kernels.transformer.attention import QUERIES, AttentionScratch
from malmoi.kernels.transformer.batch_checks import check_workspace
from malmoi.kernels.transformer.gemm import PANEL
from malmoi.kernels.transformer.gemm_quantized import new_quantized
from malmoi.kernels.transformer.layers import ActivationBuffers, TokenBatch
from malmoi.kernels.transformer.workers import LEADER, NOBODY, take_part

QUANTIZED = {"float32": np.uint8, "int16": np.int16, "int8": np.uint8}  # rows; none of floats
RUNNING = "/proc/loadavg"  # its fourth number is how many run at this moment


class CompiledEngine:
    """A model's weights, run by our own kernels, in floats or in integers."""

    def __init__(self, weights: Weights, config: Config, arithmetic: Arithmetic) -> None:
        self._config, self._arithmetic = config, arithmetic
        self._network = network_of(weights, config, arithmetic)
        self._lock, self._together = Lock(), Lock()
        self._crew: WorkerGroup | None = None
        self._free: list[
            tuple[ActivationBuffers, AttentionScratch]
        ] = []  # room for a batch, when none has it

    def run(self, batch: PackedBatch, layers: Sequence[int], threads: int) -> list[Float32Array]:
        """The hidden states asked for, each [pieces, dim], in the order asked for."""
        chosen = sorted(set(layers))
        wanted = np.full(chosen[-1] + 1, -1, np.int64)
        wanted[chosen] = np.arange(len(chosen))
        states = np.empty((len(chosen), len(batch.ids), self._config.dim), np.float32)
        own = 1 if self._crew is None else 1 + self._crew.awake
        if threads > 1 and not is_busy(threads, own) and self._together.acquire(blocking=False):
            try:
                self._run_together(batch, wanted, states, threads)
            finally:
                self._together.release()
        else:
            self._run_alone(batch, wanted, states)
        return [states[chosen.index(layer)] for layer in layers]

    def rouse(self) -> None:
        """There will soon be a batch."""
        if self._crew is not None:
            self._crew.rouse()

    def _run_together(
        self, batch: PackedBatch, wanted: Int64Array, states: Float32Array, threads: int
    ) -> None:
        crew = self._crew
        if crew is None or not crew.suits(threads, len(batch.ids)):
            count = max(len(batch.ids), BUDGET, self._config.positions)
            desk = partial(self._desk, count, count)
            self._crew = crew = WorkerGroup(self._network, self._room(count), desk, threads)
        crew.run(batch, wanted, states)

    def _run_alone(self, batch: PackedBatch, wanted: Int64Array, states: Float32Array) -> None:
        pieces = TokenBatch(batch.ids, batch.places, group_bounds(batch.sizes))
        room, desk = self._take(len(batch.ids), int(batch.sizes.max()))
        board = new_board(len(batch.ids), len(batch.sizes))
        role = (LEADER, 1, NOBODY)
        take_part(self._network, pieces, room, desk, wanted, states, board, role)
        with self._lock:
            self._free.append((room, desk))

    def _take(self, count: int, longest: int) -> tuple[ActivationBuffers, AttentionScratch]:
        """Room for so many pieces, the longest text being so long."""
        with self._lock:
            while self._free:
                room, desk = self._free.pop()
                if len(room.state) >= count and len(desk.values) >= longest:
                    return room, desk
        count, longest = max(count, BUDGET), max(longest, min(BUDGET, self._config.positions))
        room, desk = self._room(count), self._desk(count, longest)
        check_workspace(self._network, room, desk)
        return room, desk

    def _room(self, count: int) -> ActivationBuffers:
        dim, wide = self._config.dim, (self._config.embedding, self._config.inner)
        table, state, joined, seen, moved, inner = (
            np.zeros((count, _up(columns, PANEL)), np.float32)
            for columns in (wide[0], dim, 3 * dim, dim, dim, wide[1])
        )
        return ActivationBuffers(table, state, joined, seen, moved, inner)

    def _desk(self, count: int, longest: int) -> AttentionScratch:
        size = _up(self._config.dim // self._config.heads, WIDE)
        deepest = _up(max(self._config.dim, self._config.inner), PANEL)
        rows, depth = (0, 0) if self._arithmetic == "float32" else (count, deepest)
        return AttentionScratch(
            keys=_zeros(_up(longest, PANEL) // PANEL, size, PANEL),
            values=_zeros(longest, size),
            scores=_zeros(QUERIES, _up(longest, PANEL) + PANEL),
            found=_zeros(QUERIES, size),
            totals=np.zeros(QUERIES, np.float32),
            zeros=np.zeros(PANEL, np.float32),
            quantized=new_quantized(rows, depth, QUANTIZED[self._arithmetic]),
        )


def is_busy(cores: int, own: int) -> bool:
    """Whether as many others run as there are processors: then threads wait long for each other.

    `own` is how many of those that run are this engine's.
    """
    try:
        running = os.pread(_running(), 64, 0).split()[3].split(b"/")[0]
    except OSError:  # no Linux
        return False
    return int(running) - own >= cores


@cache
def _running() -> int:
    """Open for as long as the process lives."""
    return os.open(RUNNING, os.O_RDONLY | os.O_CLOEXEC)


def _up(number: int, step: int) -> int:
    return -(-number // step) * step


def _zeros(*shape: int) -> Float32Array:
    return np.zeros(shape, np.float32)
