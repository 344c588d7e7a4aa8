"""A run of tuning: the loop over batches, dev scores, the best state, checkpoints."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from math import ceil, isfinite
from time import monotonic

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.scores import spearman
from malmoi.evaluate.sentences import pair_cosines
from malmoi.files.checkpoint import Checkpoint, Checkpointer
from malmoi.files.tensors import Tensors
from malmoi.reporting.reporter import Progress, Reporter
from malmoi.tune.data.batches import ExampleBatch, epoch_batches
from malmoi.tune.data.numbering import NumberedData
from malmoi.tune.settings import TuneSettings
from malmoi.tune.trainer import SentenceTrainer

BEST = "best "  # before the names of the best weights in a checkpoint


@dataclass(frozen=True, kw_only=True)
class RunState:
    """How far a run is: steps, examples and seconds; dev scores as (step, Spearman)."""

    step: int = 0
    done: int = 0
    seconds: float = 0.0
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


@dataclass(eq=False)
class TuningRun:
    """Runs a trainer over all epochs; `cosines` are those of the dev pairs, before and best."""

    trainer: SentenceTrainer
    data: NumberedData
    settings: TuneSettings
    checkpointer: Checkpointer
    reporter: Reporter
    state: RunState = field(default_factory=RunState)
    cosines: dict[str, Float64Array] = field(default_factory=dict)
    best_weights: Tensors = field(default_factory=dict)

    def run(self) -> RunState:
        """Train until the end, or until a limit; the trainer then has the best weights."""
        self._restore()
        started = monotonic() - self.state.seconds
        self.trainer.cache_states(self.reporter)
        if self.has_dev and not self.state.history:
            self._score_dev()
        progress, total = self._stage(), self.settings.epochs * sum(map(len, self.data.sets))
        for batch, is_last in self._batches():
            self._step(batch, total)
            progress(min(self.state.done, total), total)
            if self.has_dev and (is_last or self.state.step % self.eval_steps == 0):
                self._score_dev()
                progress = self._stage()
            self.state = replace(self.state, seconds=monotonic() - started)
            if reason := self._reason_to_stop():
                self.state = replace(self.state, stopped=reason)
                break
            if self.checkpointer.is_due:
                self.checkpointer.save(self._checkpoint())
        progress(total, total)
        self._finish()
        self.state = replace(self.state, seconds=monotonic() - started)
        return self.state

    def _finish(self) -> None:
        """Score the last state, if it is not scored yet, and load the best one."""
        if not self.trainer.is_finite():
            raise InvalidArgumentError(self._divergence)
        if self.has_dev and self.state.history[-1][0] != self.state.step:
            self._score_dev()
        if self.best_weights:
            self.trainer.load_weights(self.best_weights)
        else:
            self.state = replace(self.state, best_step=self.state.step)

    def _stage(self) -> Progress:
        """The stage of the progress, which names the latest dev score."""
        scores = self.state.history
        name = f"tuning, dev {100 * scores[-1][1]:.2f}" if scores else "tuning"
        return self.reporter.stage(name, "examples")

    @property
    def has_dev(self) -> bool:
        """Whether there is a dev set."""
        return len(self.data.dev_scores) > 0

    @property
    def eval_steps(self) -> int:
        """The number of steps between dev scores."""
        examples = sum(map(len, self.data.sets))
        return self.settings.eval_steps or ceil(examples / self.settings.batch_size / 2)

    def _batches(self) -> Iterator[tuple[ExampleBatch, bool]]:
        """All batches after those that are done, each with whether it is the last one."""
        settings, number = self.settings, 0
        for epoch in range(settings.epochs):
            batches = epoch_batches(self.data.sets, settings.batch_size, settings.seed, epoch)
            if not batches:
                raise InvalidArgumentError(
                    "there is no batch with in-batch negatives: pass at least two pairs that"
                    " share no text"
                )
            for position, batch in enumerate(batches, 1):
                number += 1
                if number > self.state.step:
                    yield batch, epoch + 1 == settings.epochs and position == len(batches)

    def _step(self, batch: ExampleBatch, total: int) -> None:
        examples, done = self.data.sets[batch.data_set], self.state.done
        share = learning_rate_factor(done / total, self.settings.warmup)
        rate = self.settings.learning_rate * share
        loss = self.trainer.step(examples, batch.rows, batch.data_set, rate)
        if not isfinite(loss):
            raise InvalidArgumentError(self._divergence)
        self.reporter.loss(loss)
        self.state = replace(self.state, step=self.state.step + 1, done=done + len(batch.rows))

    @property
    def _divergence(self) -> str:
        return (
            f"tuning diverged after {self.state.done:,} examples (the loss is not finite): lower"
            f" learning_rate (now {self.settings.learning_rate:g})"
        )

    def _score_dev(self) -> None:
        texts, rows = np.unique(self.data.dev_texts, return_inverse=True)
        vectors = self.trainer.vectors(texts)
        pairs = rows.reshape(-1, 2)
        cosines = np.nan_to_num(pair_cosines(vectors[pairs[:, 0]], vectors[pairs[:, 1]]))
        score = spearman(cosines, self.data.dev_scores)
        if score is None:
            raise InvalidArgumentError(
                "Spearman's correlation on the dev set is undefined: pass pairs with different"
                " scores"
            )
        step = self.state.step
        if step == 0:
            self.cosines["before"] = cosines
        elif score > self.state.best_score:
            self.cosines["best"], self.best_weights = cosines, self.trainer.weights()
            self.state = replace(self.state, best_step=step)
        self.state = replace(self.state, history=(*self.state.history, (step, score)))

    def _reason_to_stop(self) -> str:
        patience, minutes = self.settings.patience, self.settings.minutes
        if patience and self.state.scores_since_best >= patience:
            return f"no better dev score in {patience} evaluations"
        if minutes is not None and self.state.seconds >= 60 * minutes:
            return f"the limit of {minutes:g} minutes"
        return ""

    def _checkpoint(self) -> Checkpoint:
        best = {BEST + name: array for name, array in self.best_weights.items()}
        cosines = {f"cosines {name}": array for name, array in self.cosines.items()}
        return Checkpoint(self.trainer.tensors() | best | cosines, asdict(self.state))

    def _restore(self) -> None:
        saved = self.checkpointer.restored
        if saved is None:
            return
        with saved.restoring():
            history = tuple((int(step), float(score)) for step, score in saved.state["history"])
            self.state = RunState(**saved.state | {"history": history})
            self.trainer.restore(saved.tensors)
            for name, array in saved.tensors.items():
                if name.startswith(BEST):
                    self.best_weights[name.removeprefix(BEST)] = array
                elif name.startswith("cosines "):
                    self.cosines[name.removeprefix("cosines ")] = array


def learning_rate_factor(done: float, warmup: float) -> float:
    """The factor of the learning rate after a share `done` of all examples: up, then down to 0."""
    rising = (done + 0.01 * warmup) / warmup if warmup else 1.0
    return max(0.0, min(rising, (1 - done) / (1 - warmup)))
