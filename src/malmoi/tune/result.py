"""What a tuning achieved: dev scores before and after, and whether the difference is real."""

from dataclasses import dataclass, field
from pathlib import Path

from malmoi.evaluate.scores import Score
from malmoi.evaluate.suites.differences import Difference as Difference
from malmoi.evaluate.suites.differences import compare as compare


@dataclass(frozen=True, kw_only=True)
class TuneResult:
    """A tuned encoder in a folder, and its scores on the dev set; None without a dev set.

    `history` has the step and Spearman's correlation of each dev score, the untuned model first;
    the folder has the weights of `best_step`. `command` is the command that does the same.
    """

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
    history: tuple[tuple[int, float], ...] = field(default=(), repr=False)

    @property
    def sentence(self) -> str:
        """The verdict in one line."""
        if self.difference is None or self.before is None or self.after is None:
            return "no dev set: whether the model is better is unknown"
        each = self.difference
        before, after = self.before.value or 0.0, self.after.value or 0.0
        return (
            f"{each.verdict}: Spearman {100 * before:.2f} → {100 * after:.2f}, difference"
            f" {100 * each.value:+.2f} [{100 * each.low:+.2f}, {100 * each.high:+.2f}]"
        )
