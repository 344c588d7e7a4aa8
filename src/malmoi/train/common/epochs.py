"""EpochTrainer: the loop over epochs that Word2Vec, FastText and GloVe share.

An epoch is a number of chunks, which threads train in parallel without locks. The state of a
training is its tensors and the loss of each chunk, which a kernel sets once the chunk is done: so
a checkpoint knows which chunks are pending, wherever the training was interrupted.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from malmoi.arrays import Float64Array
from malmoi.errors import InvalidArgumentError
from malmoi.files.checkpoint import Checkpoint, Checkpointer
from malmoi.files.tensors import Tensors
from malmoi.reporting.reporter import Progress, Reporter
from malmoi.text.parallel import in_order

PENDING = -1.0  # the loss of a chunk that has not been trained

Job = TypeVar("Job")


class EpochTrainer(ABC, Generic[Job]):
    """Trains the chunks of all epochs on several threads, with checkpoints.

    `losses` [epochs, chunks] or [epochs, chunks, n] hold PENDING first for chunks to be trained.
    `steps` is how many units (words, records) the progress counts in one epoch.
    """

    unit = "steps"

    def __init__(
        self, losses: Float64Array, *, steps: int, threads: int, learning_rate: float
    ) -> None:
        self.losses, self.steps, self.threads = losses, steps, threads
        self.learning_rate = learning_rate

    @abstractmethod
    def tensors(self) -> Tensors:
        """The arrays that training changes, besides the losses."""

    @abstractmethod
    def jobs(self, chunks: Iterable[int]) -> Iterator[Job]:
        """What `train_chunk` needs for each chunk; chunks are numbered through all epochs."""

    @abstractmethod
    def train_chunk(self, job: Job) -> None:
        """Train one chunk and set its loss; called by several threads at a time."""

    @abstractmethod
    def report_loss(self, reporter: Reporter) -> None:
        """Report the loss after a chunk; `check_finite` it first."""

    def weights(self) -> Iterable[npt.NDArray[Any]]:
        """The arrays that must be finite at the end."""
        return self.tensors().values()

    @property
    def is_pending(self) -> npt.NDArray[np.bool_]:
        """Which chunks [epochs · chunks] have not been trained."""
        first = self.losses if self.losses.ndim == 2 else self.losses[..., 0]
        mask: npt.NDArray[np.bool_] = (first == PENDING).ravel()
        return mask

    def run(self, checkpointer: Checkpointer, reporter: Reporter) -> None:
        """Train all pending chunks; the state is also saved when interrupted."""
        if checkpointer.found is not None:
            checkpointer.found.copy_to(self.state().tensors)
        progress = reporter.stage("training", self.unit)
        try:
            while len(pending := np.flatnonzero(self.is_pending)):
                self._report(progress, reporter)
                jobs = self.jobs(checkpointer.until_due(pending.tolist()))
                with closing(in_order(self.train_chunk, jobs, self.threads)) as finished:
                    for _ in finished:
                        self._report(progress, reporter)
                if checkpointer.is_due:  # all threads have stopped: the tensors are consistent
                    checkpointer.save(self.state())
        except KeyboardInterrupt:
            checkpointer.save(self.state())
            raise
        self._report(progress, reporter)
        for weights in self.weights():  # the losses do not cover the last steps
            self.check_finite(float(weights.min()), float(weights.max()))

    def state(self) -> Checkpoint:
        """Everything that the rest of the training depends on."""
        return Checkpoint({**self.tensors(), "losses": self.losses}, {})

    def check_finite(self, *numbers: float) -> None:
        """Raise `InvalidArgumentError` if the training has diverged."""
        if not np.all(np.isfinite(numbers)):
            raise InvalidArgumentError(
                "training diverged (the loss is not finite): lower learning_rate"
                f" (now {self.learning_rate:g})"
            )

    def _report(self, progress: Progress, reporter: Reporter) -> None:
        pending = self.is_pending
        total = len(self.losses) * self.steps
        done = int(np.count_nonzero(~pending))
        progress(total * done // max(1, len(pending)), total)
        self.report_loss(reporter)
