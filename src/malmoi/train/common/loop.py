"""The training loop: batches of all epochs, dev scores, the best state, checkpoints, limits.

Knows nothing of texts or networks: a trainer makes the steps, a dev set measures the result.
"""

from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import asdict, dataclass, field, replace
from math import ceil, isfinite
from time import monotonic
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.errors import InvalidArgumentError
from malmoi.files.checkpoint import Checkpoint, Checkpointer
from malmoi.files.tensors import Tensors
from malmoi.reporting.reporter import Progress, Reporter
from malmoi.train.common.loop_settings import LoopSettings

BEST = "best "  # before the names of the best weights in a checkpoint
DETAILS = "details "  # before the names of the measurements of the dev set

Batch = TypeVar("Batch", bound=Sized)  # its length is its number of examples
TrainedBatch = TypeVar("TrainedBatch", contravariant=True)


class LoopTrainer(Protocol[TrainedBatch]):
    """What a loop trains: one step per batch, and its state as tensors."""

    def step(self, batch: TrainedBatch, learning_rate: float) -> float:
        """Train on a batch; returns the loss before the step."""

    def is_finite(self) -> bool:
        """Whether no weight is NaN or infinite."""

    def weights(self) -> Tensors:
        """A copy of all weights that are trained."""

    def load_weights(self, weights: Tensors) -> None:
        """Replace all weights that are trained."""

    def tensors(self) -> Tensors:
        """Weights and all other state, for a checkpoint."""

    def restore(self, tensors: Tensors) -> None:
        """Restore what `tensors` returned."""


class DevScore(NamedTuple):
    """A score, higher is better, and one number per question for a paired comparison."""

    value: float
    details: Float64Array


class DevMeasure(Protocol):
    """Measures the current state of a trainer on a dev set."""

    def measure(self) -> DevScore:
        """The score now; raises an error to end the run."""

    def show(self, value: float) -> str:
        """A score as the progress names it."""


@dataclass(frozen=True, kw_only=True)
class LoopState:
    """How far a run is: steps, examples and seconds; dev scores as (step, score).

    `scored_at` are the seconds after the latest dev score.
    """

    step: int = 0
    done: int = 0
    seconds: float = 0.0
    scored_at: float = 0.0
    best_step: int = 0
    history: tuple[tuple[int, float], ...] = ()
    stopped: str = ""

    @property
    def best_score(self) -> float:
        """The best dev score after the first step, or -inf."""
        return max((score for step, score in self.history if step), default=-np.inf)

    @property
    def scores_since_best(self) -> int:
        """The number of dev scores after the best one."""
        return sum(step > self.best_step for step, _ in self.history)


@dataclass(eq=False, kw_only=True)
class TrainingLoop(Generic[Batch]):
    """Trains over all epochs; `details` are the dev set's measurements, `before` and `best`.

    `epoch_batches` returns the batches of an epoch, the same whenever it is called; `examples` is
    the number of examples per epoch, and `unit` what they are. With `eval_seconds` there is a dev
    score after so much time instead of after `eval_steps`.
    """

    trainer: LoopTrainer[Batch]
    epoch_batches: Callable[[int], Sequence[Batch]]
    examples: int
    settings: LoopSettings
    checkpointer: Checkpointer
    reporter: Reporter
    dev: DevMeasure | None = None
    name: str = "tuning"
    unit: str = "examples"
    eval_seconds: float | None = None
    state: LoopState = field(default_factory=LoopState)
    details: dict[str, Float64Array] = field(default_factory=dict)
    best_weights: Tensors = field(default_factory=dict)

    def run(self) -> LoopState:
        """Train until the end, or until a limit; the trainer then has the best weights."""
        started = monotonic() - self.state.seconds
        if not self.state.history:
            self._score()
            self._set_time(started, is_scored=True)
        progress, total = self._stage(), self.total
        for batch, is_last in self._batches():
            self._step(batch)
            total = self._expected_total()
            progress(min(self.state.done, total), total)
            is_scored = self.dev is not None and (is_last or self._is_score_due())
            if is_scored:
                self._score()
                progress = self._stage()
            self._set_time(started, is_scored=is_scored)
            if reason := self._reason_to_stop():
                self.state = replace(self.state, stopped=reason)
                break
            if self.checkpointer.is_due:
                self.checkpointer.save(self._checkpoint())
        progress(total, total)
        self._finish()
        self.state = replace(self.state, seconds=monotonic() - started)
        return self.state

    @property
    def total(self) -> int:
        """The number of examples of all epochs."""
        return self.settings.epochs * self.examples

    @property
    def eval_steps(self) -> int:
        """The number of steps between dev scores."""
        return self.settings.eval_steps or ceil(self.examples / self.settings.batch_size / 2)

    def _set_time(self, started: float, *, is_scored: bool) -> None:
        """Update the seconds; the time between dev scores begins when one is done."""
        seconds = monotonic() - started
        scored_at = seconds if is_scored else self.state.scored_at
        self.state = replace(self.state, seconds=seconds, scored_at=scored_at)

    def _is_score_due(self) -> bool:
        if self.eval_seconds is not None:
            return self.state.seconds - self.state.scored_at >= self.eval_seconds
        return self.state.step % self.eval_steps == 0

    def _expected_total(self) -> int:
        """The number of examples at the end of the run, which may be that of its time."""
        return ceil(self.state.done / (self._share() or 1.0))

    def _finish(self) -> None:
        """Score the last state, if it is not scored yet, and load the best one."""
        if not self.trainer.is_finite():
            raise InvalidArgumentError(self._divergence)
        if self.dev and self.state.history[-1][0] != self.state.step:
            self._score()
        if self.best_weights:
            self.trainer.load_weights(self.best_weights)
        else:
            self.state = replace(self.state, best_step=self.state.step)

    def _stage(self) -> Progress:
        """The stage of the progress, which names the latest dev score."""
        scores = self.state.history
        shown = f", dev {self.dev.show(scores[-1][1])}" if self.dev and scores else ""
        return self.reporter.stage(f"{self.name}{shown}", self.unit)

    def _batches(self) -> Iterator[tuple[Batch, bool]]:
        """All batches after those that are done, each with whether it is the last one."""
        number, epochs = 0, self.settings.epochs
        for epoch in range(epochs):
            batches = self.epoch_batches(epoch)
            for position, batch in enumerate(batches, 1):
                number += 1
                if number > self.state.step:
                    yield batch, epoch + 1 == epochs and position == len(batches)

    def _step(self, batch: Batch) -> None:
        rate = self.settings.learning_rate * learning_rate_factor(
            self._share(), self.settings.warmup
        )
        loss = self.trainer.step(batch, rate)
        if not isfinite(loss):
            raise InvalidArgumentError(self._divergence)
        self.reporter.loss(loss)
        done = self.state.done + len(batch)
        self.state = replace(self.state, step=self.state.step + 1, done=done)

    def _share(self) -> float:
        """The share of the run that is done: of its examples, or of its time if that is more."""
        limit = self.settings.minutes
        of_time = 0.0 if limit is None else self.state.seconds / (60 * limit)
        return min(1.0, max(self.state.done / self.total, of_time))

    @property
    def _divergence(self) -> str:
        return (
            f"{self.name} diverged after {self.state.done:,} {self.unit} (the loss is not finite):"
            f" lower learning_rate (now {self.settings.learning_rate:g})"
        )

    def _score(self) -> None:
        if self.dev is None:
            return
        score, step = self.dev.measure(), self.state.step
        if step == 0:
            self.details["before"] = score.details
        elif score.value > self.state.best_score:
            self.details["best"], self.best_weights = score.details, self.trainer.weights()
            self.state = replace(self.state, best_step=step)
        self.state = replace(self.state, history=(*self.state.history, (step, score.value)))

    def _reason_to_stop(self) -> str:
        patience, minutes = self.settings.patience, self.settings.minutes
        if patience and self.state.scores_since_best >= patience:
            return f"no better dev score in {patience} evaluations"
        if minutes is not None and self.state.seconds >= 60 * minutes:
            return f"the limit of {minutes:g} minutes"
        return ""

    def _checkpoint(self) -> Checkpoint:
        best = {BEST + name: array for name, array in self.best_weights.items()}
        details = {DETAILS + name: array for name, array in self.details.items()}
        return Checkpoint(self.trainer.tensors() | best | details, asdict(self.state))

    def restore(self) -> None:
        """Continue where the checkpoint is, if there is one."""
        saved = self.checkpointer.restored
        if saved is None:
            return
        with saved.restoring():
            history = tuple((int(step), float(score)) for step, score in saved.state["history"])
            self.state = LoopState(**saved.state | {"history": history})
            self.trainer.restore(saved.tensors)
            for name, array in saved.tensors.items():
                if name.startswith(BEST):
                    self.best_weights[name.removeprefix(BEST)] = array
                elif name.startswith(DETAILS):
                    self.details[name.removeprefix(DETAILS)] = array


def learning_rate_factor(done: float, warmup: float) -> float:
    """The factor of the learning rate after a share `done` of all examples: up, then down to 0."""
    rising = (done + 0.01 * warmup) / warmup if warmup else 1.0
    return max(0.0, min(rising, (1 - done) / (1 - warmup)))
