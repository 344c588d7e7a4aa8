"""What an adaptation achieved: perplexity and dev scores, before and after."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from malmoi.arrays import Float64Array, Int64Array
from malmoi.evaluate.scores import RESAMPLES, Score, interval, seeded_generator
from malmoi.tune.result import TuneResult


@dataclass(frozen=True, kw_only=True)
class AdaptResult(TuneResult):
    """An adapted encoder in a folder, and its scores; see `TuneResult`.

    The perplexity is that of words of documents that were held out, with the same masks before
    and after; its intervals are over passages. None for method contrastive.
    """

    how: ClassVar[str] = "adapted to a domain"
    perplexity_before: Score | None = None
    perplexity_after: Score | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """The perplexities in one line."""
        before, after = self.perplexity_before, self.perplexity_after
        if before is None or after is None:
            return ()
        return (
            f"perplexity of held-out text {_shown(before)} → {_shown(after)}"
            f" ({after.total:,} passages)",
        )


def perplexity(losses: Float64Array, tokens: Int64Array, seed: int = 0) -> Score:
    """exp of the mean loss per token, from sums per passage; a bootstrap over passages."""
    random, count = seeded_generator(seed), len(losses)
    drawn = random.integers(count, size=(RESAMPLES, count))
    low, high = interval(np.exp(losses[drawn].sum(axis=1) / tokens[drawn].sum(axis=1)))
    value = float(np.exp(losses.sum() / tokens.sum()))
    return Score(value=value, low=low, high=high, answered=count, total=count)


def _shown(score: Score) -> str:
    return f"{score.value or 0.0:.1f} [{score.low or 0.0:.1f}, {score.high or 0.0:.1f}]"
