"""What a tuning achieved: dev scores before and after, and whether the difference is real."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from malmoi.arrays import Float64Array
from malmoi.evaluate.scores import Score, interval, resampled, spearman

Verdict = Literal["better", "no difference", "worse"]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A difference of dev scores with its 95 % interval, by a paired bootstrap."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """Better or worse, if the interval excludes 0."""
        return "better" if self.low > 0 else "worse" if self.high < 0 else "no difference"


@dataclass(frozen=True, kw_only=True)
class TuneResult:
    """A tuned encoder in a folder, and its scores on the dev set; None without a dev set.

    `history` has the step and the value of each dev score, the untuned model first; `metric` names
    the score. The folder has the weights of `best_step`. `command` is the command that does the
    same.
    """

    how: ClassVar[str] = "tuned"

    folder: Path
    model: str
    data: tuple[str, ...]
    command: str
    examples: int
    steps: int
    best_step: int
    seconds: float
    stopped: str
    before: Score | None = None
    after: Score | None = None
    difference: Difference | None = None
    metric: str = "Spearman"
    history: tuple[tuple[int, float], ...] = field(default=(), repr=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """What else was measured, one sentence each."""
        return ()

    @property
    def sentence(self) -> str:
        """The verdict in one line."""
        if self.difference is None or self.before is None or self.after is None:
            return "no dev set: whether the model is better is unknown"
        each = self.difference
        before, after = self.before.value or 0.0, self.after.value or 0.0
        return (
            f"{each.verdict}: {self.metric} {100 * before:.2f} → {100 * after:.2f}, difference"
            f" {100 * each.value:+.2f} [{100 * each.low:+.2f}, {100 * each.high:+.2f}]"
        )


def compare(
    before: Float64Array, after: Float64Array, theirs: Float64Array, seed: int = 0
) -> Difference | None:
    """The difference between two models' correlations with the same human scores.

    Both use the same resamples of the pairs. None where a correlation is undefined.
    """
    first, second = spearman(before, theirs), spearman(after, theirs)
    if first is None or second is None:
        return None
    drawn = resampled(np.stack([before, after]), theirs, seed)
    low, high = interval(drawn[1] - drawn[0])
    if low is None or high is None:
        return None
    return Difference(value=second - first, low=low, high=high)
