"""The engine of compiled kernels, for processors with AVX2 and FMA; nothing is padded.

Imports Numba, so it is not loaded for a first short call.
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
from malmoi.encode.runtime.batches import MAX_BATCH_TOKENS, PackedBatch
from malmoi.encode.runtime.packed_weights import pack_weights
from malmoi.encode.runtime.worker_group import WorkerGroup
from malmoi.kernels.core.llvm import SIMD_WIDTH
from malmoi.kernels.core.mailbox import new_mailbox
from malmoi.kernels.transformer.attention import QUERY_BLOCK, AttentionScratch
from malmoi.kernels.transformer.batch_checks import check_workspace
from malmoi.kernels.transformer.gemm import PANEL
from malmoi.kernels.transformer.gemm_quantized import new_quantized_rows
from malmoi.kernels.transformer.layers import ActivationBuffers, TokenBatch
from malmoi.kernels.transformer.workers import LEADER, NO_PIPE, run_worker

ROW_DTYPES = {"float32": np.uint8, "int16": np.int16, "int8": np.uint8}  # unused for float32
LOADAVG = "/proc/loadavg"  # its fourth field is the number of threads that run now
TransformerWorkspace = tuple[ActivationBuffers, AttentionScratch]


class CompiledEngine:
    """Runs a model with compiled kernels, in floats or in integers."""

    def __init__(self, weights: Weights, config: Config, arithmetic: Arithmetic) -> None:
        self._config, self._arithmetic = config, arithmetic
        self._network = pack_weights(weights, config, arithmetic)
        self._lock, self._group_lock = Lock(), Lock()
        self._group: WorkerGroup | None = None
        self._free: list[TransformerWorkspace] = []  # workspaces that no batch uses now

    def run(self, batch: PackedBatch, layers: Sequence[int], threads: int) -> list[Float32Array]:
        """The hidden states of these layers, each [tokens, dim], in this order."""
        chosen = sorted(set(layers))
        state_slots = np.full(chosen[-1] + 1, -1, np.int64)
        state_slots[chosen] = np.arange(len(chosen))
        states = np.empty((len(chosen), len(batch.token_ids), self._config.dim), np.float32)
        own = 1 if self._group is None else 1 + self._group.awake
        if threads > 1 and not is_busy(threads, own) and self._group_lock.acquire(blocking=False):
            try:
                self._run_in_group(batch, state_slots, states, threads)
            finally:
                self._group_lock.release()
        else:
            self._run_alone(batch, state_slots, states)
        return [states[chosen.index(layer)] for layer in layers]

    def wake_workers(self) -> None:
        """Wake the workers, because a batch will come soon."""
        if self._group is not None:
            self._group.wake_workers()

    def _run_in_group(
        self, batch: PackedBatch, state_slots: Int64Array, states: Float32Array, threads: int
    ) -> None:
        group = self._group
        if group is None or not group.fits(threads, len(batch.token_ids)):
            count = max(len(batch.token_ids), MAX_BATCH_TOKENS, self._config.positions)
            new_scratch = partial(self._scratch, count, count)
            group = WorkerGroup(self._network, self._buffers(count), new_scratch, threads)
            self._group = group
        group.run(batch, state_slots, states)

    def _run_alone(self, batch: PackedBatch, state_slots: Int64Array, states: Float32Array) -> None:
        tokens = TokenBatch(batch.token_ids, batch.positions, group_bounds(batch.sizes))
        buffers, scratch = self._workspace(len(batch.token_ids), int(batch.sizes.max()))
        mailbox = new_mailbox(len(batch.token_ids), len(batch.sizes))
        role = (LEADER, 1, NO_PIPE)
        run_worker(self._network, tokens, buffers, scratch, state_slots, states, mailbox, role)
        with self._lock:
            self._free.append((buffers, scratch))

    def _workspace(self, count: int, longest: int) -> TransformerWorkspace:
        """A workspace for a batch of `count` tokens whose longest text has `longest`."""
        with self._lock:
            while self._free:
                buffers, scratch = self._free.pop()
                if len(buffers.hidden) >= count and len(scratch.values) >= longest:
                    return buffers, scratch
        count = max(count, MAX_BATCH_TOKENS)
        longest = max(longest, min(MAX_BATCH_TOKENS, self._config.positions))
        buffers, scratch = self._buffers(count), self._scratch(count, longest)
        check_workspace(self._network, buffers, scratch)
        return buffers, scratch

    def _buffers(self, count: int) -> ActivationBuffers:
        config = self._config
        embeddings, hidden, qkv, attn_context, sublayer_out, ffn_hidden = (
            np.zeros((count, _round_up(columns, PANEL)), np.float32)
            for columns in (
                config.embedding_size,
                config.dim,
                3 * config.dim,
                config.dim,
                config.dim,
                config.ffn_size,
            )
        )
        return ActivationBuffers(embeddings, hidden, qkv, attn_context, sublayer_out, ffn_hidden)

    def _scratch(self, count: int, longest: int) -> AttentionScratch:
        size = _round_up(self._config.dim // self._config.heads, SIMD_WIDTH)
        deepest = _round_up(max(self._config.dim, self._config.ffn_size), PANEL)
        rows, depth = (0, 0) if self._arithmetic == "float32" else (count, deepest)
        return AttentionScratch(
            keys=_zeros(_round_up(longest, PANEL) // PANEL, size, PANEL),
            values=_zeros(longest, size),
            scores=_zeros(QUERY_BLOCK, _round_up(longest, PANEL) + PANEL),
            context=_zeros(QUERY_BLOCK, size),
            totals=np.zeros(QUERY_BLOCK, np.float32),
            zeros=np.zeros(PANEL, np.float32),
            quantized=new_quantized_rows(rows, depth, ROW_DTYPES[self._arithmetic]),
        )


def is_busy(cores: int, own: int) -> bool:
    """Whether other threads occupy all cores: threads of a group would then wait for each other.

    `own` is the number of running threads that belong to this engine.
    """
    try:
        running = os.pread(_loadavg(), 64, 0).split()[3].split(b"/")[0]
    except OSError:  # not Linux
        return False
    return int(running) - own >= cores


@cache
def _loadavg() -> int:
    """A file descriptor that stays open for the life of the process."""
    return os.open(LOADAVG, os.O_RDONLY | os.O_CLOEXEC)


def _round_up(number: int, step: int) -> int:
    return -(-number // step) * step


def _zeros(*shape: int) -> Float32Array:
    return np.zeros(shape, np.float32)
