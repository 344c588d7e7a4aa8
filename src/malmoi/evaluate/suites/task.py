"""What a task of a suite is: texts that an encoder embeds, and metrics of their vectors.

Knows nothing of where texts and vectors come from.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self, TypeVar

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int64Array
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.scores import Score, interval, resample_weights, seeded_generator
from malmoi.evaluate.suites.statistics import Statistic

Language = Literal["ko", "en", "ko-en", ""]  # "" where it is unknown
Role = Literal["text", "query", "document"]  # a model may have a prompt for queries and documents
TaskKind = Literal[
    "sts", "nli", "paraphrases", "retrieval", "bitext", "classification", "clustering"
]
SAMPLE_SEED = 42  # of the texts that are drawn from a large set: the same for all models
Item = TypeVar("Item")


class Embed(Protocol):
    """Turns texts into vectors."""

    def __call__(self, texts: Sequence[str], role: Role = "text") -> Float32Array:
        """One vector per text, [texts, dim]."""


@dataclass(frozen=True, eq=False)
class Measure:
    """A metric of one model on one task.

    `groups` numbers the questions that belong together and are resampled together; without it
    each question is resampled by itself. A metric that rises where questions repeat, as they do in
    resamples, `is_biased`: the values of resamples are then shifted, to have the value as mean.
    """

    metric: str
    statistic: Statistic
    groups: Int64Array | None = None
    answered: int | None = None  # of all questions, where some have no vector
    is_biased: bool = False

    def value(self) -> float | None:
        """The value over all questions; None where it is undefined."""
        value = float(self.statistic(np.ones((1, len(self.statistic))))[0])
        return None if np.isnan(value) else value

    def draws(self, seed: int) -> Float64Array:
        """The values of all resamples."""
        count = len(self.statistic) if self.groups is None else int(self.groups.max()) + 1
        parts = [
            self.statistic(weights if self.groups is None else weights[:, self.groups])
            for weights in resample_weights(count, seed)
        ]
        draws: Float64Array = np.concatenate(parts)
        value = self.value()
        return draws - (draws.mean() - value) if self.is_biased and value is not None else draws

    def score(self, draws: Float64Array) -> Score:
        """The value with the interval of its resamples."""
        total, value = len(self.statistic), self.value()
        answered = total if self.answered is None else self.answered
        if value is None:
            return Score(value=None, answered=answered, total=total)
        low, high = interval(draws)
        return Score(value=value, low=low, high=high, answered=answered, total=total)


class EvaluationTask(Protocol):
    """A task of a suite; `load_task` reads one from a file."""

    @property
    def name(self) -> str:
        """The name, that of MTEB where it has the task."""

    @property
    def language(self) -> Language:
        """The language of its texts."""

    @property
    def kind(self) -> TaskKind:
        """What is asked of an encoder."""

    def limited(self, texts: int) -> Self:
        """The task with at most about this many texts, always the same ones."""

    def measure(self, embed: Embed) -> list[Measure]:
        """The metrics of an encoder, the main one first."""


def sample(items: Sequence[Item], count: int) -> list[Item]:
    """At most `count` items in their order, always the same ones."""
    if len(items) <= count:
        return list(items)
    chosen = seeded_generator(SAMPLE_SEED).choice(len(items), count, replace=False)
    return [items[i] for i in np.sort(chosen).tolist()]


def numbered(labels: Iterable[str]) -> Int64Array:
    """Labels as numbers from 0, in the order in which they first occur."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(label, len(known)) for label in labels], np.int64)


def check_enough(name: str, count: int, least: int, what: str) -> None:
    """Raise `InvalidArgumentError` if a task has too few questions to be scored."""
    if count < least:
        raise InvalidArgumentError(
            f"{name} has {count} {what}: it needs at least {least}; raise the limit or add some"
        )
