"""What a tuning achieved: dev scores before and after, and whether the difference is real."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Self

from malmoi.arrays import Float64Array
from malmoi.evaluate.scores import Score, correlation
from malmoi.evaluate.suites.differences import Difference as Difference
from malmoi.evaluate.suites.differences import compare as compare


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

    def with_scores(self, before: Float64Array, after: Float64Array, theirs: Float64Array) -> Self:
        """The same with the dev scores of two models, by their cosines and human scores."""
        return replace(
            self,
            before=correlation(before, theirs, len(theirs)),
            after=correlation(after, theirs, len(theirs)),
            difference=compare(before, after, theirs),
        )

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
