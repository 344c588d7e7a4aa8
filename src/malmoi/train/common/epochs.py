"""EpochTrainer: the loop over epochs that Word2Vec, FastText and GloVe share.

An epoch is a number of chunks, which threads train in parallel without locks. The state of a
training is its tensors and the loss of each chunk, which a kernel sets once the chunk is done: so
a checkpoint knows which chunks are pending, wherever the training was interrupted.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from malmoi.arrays import BoolArray, Float64Array
from malmoi.errors import InvalidArgumentError
from malmoi.files.checkpoint import Checkpoint, Checkpointer
from malmoi.files.tensors import Tensors
from malmoi.reporting.reporter import Progress, Reporter
from malmoi.text.parallel import in_order
from malmoi.vectors import Vectors

PENDING = -1.0  # the loss of a chunk that has not been trained

Job = TypeVar("Job")


class StopTraining(Exception):  # noqa: N818  # not an error: as StopIteration
    """Raise this in `on_epoch_end` to end a training; the vectors so far are its result."""


@dataclass(frozen=True, eq=False)
class EpochEnd:
    """What `TrainOptions.on_epoch_end` is called with, after each epoch.

    Attributes:
        epoch: The number of the epoch, from 1.
        epochs: How many epochs there are.
        loss: The mean loss of the epoch, as the reporter shows it; None if it was not measured.
    """

    epoch: int
    epochs: int
    loss: float | None
    make_vectors: Callable[[], Vectors] = field(repr=False)

    @cached_property
    def vectors(self) -> Vectors:
        """The vectors so far: a copy, made when this is first used during the call."""
        return self.make_vectors()


OnEpochEnd = Callable[[EpochEnd], object]


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
    def epoch_loss(self, epoch: int) -> float | None:
        """The mean loss of an epoch that has finished, counted from 0; None if unknown."""

    @abstractmethod
    def report_loss(self, reporter: Reporter) -> None:
        """Report the loss after a chunk; `check_finite` it first."""

    def weights(self) -> Iterable[npt.NDArray[Any]]:
        """The arrays that must be finite at the end."""
        return self.tensors().values()

    @property
    def is_pending(self) -> BoolArray:
        """Which chunks [epochs · chunks] have not been trained."""
        first = self.losses if self.losses.ndim == 2 else self.losses[..., 0]
        pending: BoolArray = np.equal(first, PENDING).ravel()
        return pending

    @property
    def finished_epochs(self) -> int:
        """How many epochs from the first on have been trained to their end."""
        pending = np.flatnonzero(self.is_pending)
        return int(pending[0]) // self.losses.shape[1] if len(pending) else len(self.losses)

    def epoch_losses(self) -> tuple[float | None, ...]:
        """The mean loss of each epoch that has finished."""
        return tuple(self.epoch_loss(epoch) for epoch in range(self.finished_epochs))

    def run(
        self,
        checkpointer: Checkpointer,
        reporter: Reporter,
        on_epoch_end: OnEpochEnd | None = None,
        make_vectors: Callable[[], Vectors] | None = None,
    ) -> None:
        """Train all pending chunks; the state is also saved when interrupted.

        With `on_epoch_end` the threads wait for each other at the end of each epoch, and
        `make_vectors` copies the vectors so far.
        """
        if checkpointer.restored is not None:
            checkpointer.restored.copy_to(self.state().tensors)
        progress = reporter.stage("training", self.unit)
        try:
            while len(pending := np.flatnonzero(self.is_pending)):
                self._report(progress, reporter)
                epoch = self.finished_epochs
                if on_epoch_end is not None:
                    pending = pending[pending < (epoch + 1) * self.losses.shape[1]]
                jobs = self.jobs(checkpointer.until_due(pending.tolist()))
                with closing(in_order(self.train_chunk, jobs, self.threads)) as finished:
                    for _ in finished:
                        self._report(progress, reporter)
                if checkpointer.is_due:  # all threads have stopped: the tensors are consistent
                    checkpointer.save(self.state())
                if on_epoch_end is not None and self.finished_epochs > epoch:
                    assert make_vectors is not None
                    loss = self.epoch_loss(epoch)
                    on_epoch_end(EpochEnd(epoch + 1, len(self.losses), loss, make_vectors))
        except KeyboardInterrupt:
            checkpointer.save(self.state())
            raise
        except StopTraining:
            checkpointer.save(self.state())
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
