"""A group of threads that run batches together: the caller's thread, and one per further core.

The workers wait in a kernel from the first batch on and sleep when there is nothing to do. They
hold weights and buffers but not the engine, so they shut down when the engine is deleted.
"""

import os
import weakref
from collections.abc import Callable
from threading import Thread

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.pooling.groups import group_bounds
from malmoi.encode.runtime.batches import PackedBatch
from malmoi.kernels.core.mailbox import (
    JOB,
    NUM_TEXTS,
    NUM_TOKENS,
    SHUTDOWN,
    SLEEPING,
    new_mailbox,
)
from malmoi.kernels.transformer.attention import AttentionScratch
from malmoi.kernels.transformer.batch_checks import check_workspace
from malmoi.kernels.transformer.layers import ActivationBuffers, TokenBatch, TransformerWeights
from malmoi.kernels.transformer.workers import LEADER, run_worker

JOIN_TIMEOUT = 5  # seconds to wait for each worker at shutdown


class WorkerGroup:
    """Threads for one network that run one batch at a time, up to the size of the buffers."""

    def __init__(
        self,
        network: TransformerWeights,
        buffers: ActivationBuffers,
        new_scratch: Callable[[], AttentionScratch],
        threads: int,
    ) -> None:
        scratches = [new_scratch() for _ in range(threads)]
        for scratch in scratches:
            check_workspace(network, buffers, scratch)
        self._network, self._buffers, self._scratch = network, buffers, scratches[0]
        self._threads, self._capacity, self._process = threads, len(buffers.hidden), os.getpid()
        token_ids, positions = np.zeros((2, self._capacity), np.int32)
        self._tokens = TokenBatch(token_ids, positions, np.zeros(self._capacity + 1, np.int64))
        self._mailbox, (read_end, self._write_end) = new_mailbox(), os.pipe()
        layers, dim = network.attn_norm.weight.shape
        no_slots = np.full(layers + 1, -1, np.int64)
        states = np.zeros((0, 0, dim), np.float32)
        shared = (network, self._tokens, buffers)
        workers = [
            Thread(
                target=run_worker,
                args=(*shared, scratches[thread], no_slots, states, self._mailbox,
                      (thread, threads, read_end)),
                name=f"malmoi-worker-{thread}",
                daemon=True,
            )
            for thread in range(1, threads)
        ]  # fmt: skip
        for worker in workers:
            worker.start()
        pipe = (read_end, self._write_end)
        weakref.finalize(self, shutdown, self._mailbox, workers, pipe, self._process)

    def fits(self, threads: int, tokens: int) -> bool:
        """Whether the group can run such a batch; a forked child process has no workers."""
        is_own = self._process == os.getpid()
        return is_own and self._threads == threads and tokens <= self._capacity

    @property
    def awake(self) -> int:
        """The number of workers that spin and wait for a batch now."""
        return self._threads - 1 - int(self._mailbox[SLEEPING])

    def wake_workers(self) -> None:
        """Wake sleeping workers, because a batch will come soon."""
        for _ in range(self._mailbox[SLEEPING]):
            os.write(self._write_end, b"!")

    def run(self, batch: PackedBatch, state_slots: Int64Array, states: Float32Array) -> None:
        """Compute the states of a batch; only one caller at a time."""
        count, texts = len(batch.token_ids), len(batch.sizes)
        self._tokens.token_ids[:count] = batch.token_ids
        self._tokens.positions[:count] = batch.positions
        self._tokens.bounds[: texts + 1] = group_bounds(batch.sizes)
        self._mailbox[NUM_TOKENS], self._mailbox[NUM_TEXTS] = count, texts
        arguments = (self._tokens, self._buffers, self._scratch, state_slots, states, self._mailbox)
        run_worker(self._network, *arguments, (LEADER, self._threads, self._write_end))


def shutdown(
    mailbox: Int64Array, workers: list[Thread], pipe: tuple[int, int], process: int
) -> None:
    """Make all workers return, and close the pipe."""
    if process == os.getpid():
        mailbox[NUM_TOKENS] = SHUTDOWN
        mailbox[JOB] += 1
        os.write(pipe[1], b"!" * len(workers))
        for worker in workers:
            worker.join(JOIN_TIMEOUT)
    for end in pipe:
        os.close(end)
