"""Threads that run batches together: the caller's, and one for each further core.

Those stand by in a kernel from the first batch on, asleep when there is nothing to do. They
hold weights and room, never the engine, and go home with it.
"""

import os
import weakref
from collections.abc import Callable
from threading import Thread

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.encode.pooling.groups import group_bounds
from malmoi.encode.runtime.batches import PackedBatch
from malmoi.kernels.core.mailbox import ASLEEP, JOB, NO_MORE, PIECES, TEXTS, new_board
from malmoi.kernels.transformer.attention import AttentionScratch
from malmoi.kernels.transformer.batch_checks import check_workspace
from malmoi.kernels.transformer.layers import ActivationBuffers, TokenBatch, TransformerWeights
from malmoi.kernels.transformer.workers import LEADER, take_part

PATIENCE = 5  # seconds until a thread that should go home is left behind


class WorkerGroup:
    """So many threads for one network, and room for a batch of so many pieces, one at a time."""

    def __init__(
        self,
        network: TransformerWeights,
        room: ActivationBuffers,
        make_desk: Callable[[], AttentionScratch],
        threads: int,
    ) -> None:
        desks = [make_desk() for _ in range(threads)]
        for desk in desks:
            check_workspace(network, room, desk)
        self._network, self._room, self._desk, self._threads = network, room, desks[0], threads
        self._capacity, self._process = len(room.state), os.getpid()
        ids, places = np.zeros((2, self._capacity), np.int32)
        self._pieces = TokenBatch(ids, places, np.zeros(self._capacity + 1, np.int64))
        self._board, (door, self._bell) = new_board(), os.pipe()
        nothing = np.full(len(network.attended_norm.gains) + 1, -1, np.int64)
        states = np.zeros((0, 0, network.attended_norm.gains.shape[1]), np.float32)
        waiting = (network, self._pieces, room)
        others = [
            Thread(
                target=take_part,
                args=(*waiting, desks[part], nothing, states, self._board, (part, threads, door)),
                name=f"malmoi-by-{part}",
                daemon=True,
            )
            for part in range(1, threads)
        ]
        for other in others:
            other.start()
        weakref.finalize(self, dismiss, self._board, others, (door, self._bell), self._process)

    def suits(self, threads: int, pieces: int) -> bool:
        """Whether it can run such a batch; not in a child process, where its threads are not."""
        here = self._process == os.getpid()
        return here and self._threads == threads and pieces <= self._capacity

    @property
    def awake(self) -> int:
        """How many of the others look out for a batch at this moment."""
        return self._threads - 1 - int(self._board[ASLEEP])

    def rouse(self) -> None:
        """There will soon be a batch: whoever sleeps had better be awake by then."""
        for _ in range(self._board[ASLEEP]):
            os.write(self._bell, b"!")

    def run(self, batch: PackedBatch, wanted: Int64Array, states: Float32Array) -> None:
        """The states of a batch of at most so many pieces; one caller at a time."""
        count, texts = len(batch.ids), len(batch.sizes)
        self._pieces.ids[:count], self._pieces.places[:count] = batch.ids, batch.places
        self._pieces.bounds[: texts + 1] = group_bounds(batch.sizes)
        self._board[PIECES], self._board[TEXTS] = count, texts
        given = (self._pieces, self._room, self._desk, wanted, states)
        take_part(self._network, *given, self._board, (LEADER, self._threads, self._bell))


def dismiss(board: Int64Array, others: list[Thread], pipe: tuple[int, int], process: int) -> None:
    """Send all home."""
    if process == os.getpid():
        board[PIECES] = NO_MORE
        board[JOB] += 1
        os.write(pipe[1], b"!" * len(others))
        for other in others:
            other.join(PATIENCE)
    for end in pipe:
        os.close(end)
