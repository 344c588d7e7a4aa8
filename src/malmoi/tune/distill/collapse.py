"""The guard against collapse: a student whose vectors of all texts are nearly the same.

The loss does not show it: always predicting the mean of a teacher's unit vectors costs 0.0025 in
384 dimensions, which looks converged. What shows it is how far a student's vectors are apart, and
the held-out R² = 1 − MSE / variance.
"""

from collections.abc import Sequence

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.encode.encoder import TransformerEncoder
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import Reporter, SilentReporter
from malmoi.tune.distill.ridge import r_squared
from malmoi.tune.distill.spread import VectorSpread, token_shares, vector_spread

SAMPLE_TEXTS = 1000  # whose tokens are counted
MAX_UNKNOWN_SHARE = 0.2  # of texts with an unknown token: a warning
MAX_FRAGMENTS = 0.5  # of words that are unknown or single letters: the run stops
MAX_ROW_COSINE = 0.9  # of the rows of different tokens: the run stops
MIN_DISTANCE_SHARE = 0.7  # of the teacher's mean 1 − cosine, which is 0.96 for minilm: a warning
MIN_RANK = 10.0  # effective rank: a warning
MIN_RANK_SHARE = 0.1  # of the teacher's effective rank around the mean: the run stops
CHANGE = 0.05  # of R² that is more than noise
CHECK_STEPS, FIRST_STEPS = 25, 10  # between checks, and between the first ones
CHECKED_TEXTS = 128
DOUBTS = 2  # checks in a row that end a run
PLATEAU_CHECKS = 8  # without any progress
FORCE = "; force continues anyway"
EXTEND = "give the student tokens of the language with `malmoi tune extend`"


class CollapseError(InvalidArgumentError):
    """A distillation that would make all vectors the same; `force` continues anyway."""


def check_tokens(
    encoder: TransformerEncoder, texts: Sequence[str], reporter: Reporter, *, force: bool = False
) -> None:
    """Check that a student has tokens for texts of the target language.

    Raises:
        CollapseError: It does not, or their rows are the same; with `force` a warning says so.
    """
    shares = token_shares(encoder, texts[:SAMPLE_TEXTS])
    reasons = []
    if shares.fragments > MAX_FRAGMENTS:
        reasons.append(
            f"{encoder.name} reads {shares.fragments:.0%} of the words of the target language"
            f" as unknown tokens or single letters: {EXTEND}"
        )
    if shares.mean_cosine > MAX_ROW_COSINE:
        reasons.append(
            f"the rows of the target language's tokens in {encoder.name} are nearly the same (mean"
            f" pairwise cosine {shares.mean_cosine:.2f}): {EXTEND}"
        )
    if reasons and not force:
        raise CollapseError(f"{reasons[0]}{FORCE}")
    if not reasons and shares.unknown > MAX_UNKNOWN_SHARE:
        reasons.append(
            f"{shares.unknown:.0%} of the texts have tokens that {encoder.name} does not know:"
            f" {EXTEND}"
        )
    for reason in reasons:
        reporter.warn(reason)


class CollapseGuard:
    """Judges a student by texts of the target language, whose targets are the teacher's vectors.

    Args:
        texts: Held-out texts of the target language, at least two.
        targets: The teacher's vectors of their translations.
        reporter: Receives warnings.
        learning_rate: The peak learning rate.
        force: Warn instead of ending the run.
    """

    def __init__(
        self,
        texts: Sequence[str],
        targets: Float32Array,
        reporter: Reporter,
        *,
        learning_rate: float,
        force: bool = False,
    ) -> None:
        self.texts, self.targets = texts[:CHECKED_TEXTS], targets[:CHECKED_TEXTS]
        self.reporter, self.learning_rate, self.force = reporter, learning_rate, force
        self.teacher = vector_spread(self.targets)
        self.r2 = [-np.inf]  # of the untrained student, then of each check
        self.doubts = 0  # checks in a row
        self._reported: set[str] = set()

    def check_before(self, encoder: TransformerEncoder) -> None:
        """Check the untrained student's vectors.

        Raises:
            CollapseError: It cannot tell texts apart.
        """
        vectors = encoder.encode(self.texts, reporter=SilentReporter())
        spread, self.r2 = vector_spread(vectors), [r_squared(vectors, self.targets)]
        if self._is_flat(spread):
            self._stop(
                "the untrained student's vectors of different texts are nearly the same"
                f" ({self._describe(spread)}): {EXTEND}"
            )
        elif self._is_alike(spread) or spread.effective_rank < self._min_rank:
            self._warn(f"the untrained student keeps texts hardly apart ({self._describe(spread)})")

    def check(self, vectors: Float32Array, *, is_warm: bool) -> None:
        """Check the student's vectors of `texts`; `is_warm` after the warm-up.

        Raises:
            CollapseError: They have become alike, or the student has learnt nothing.
        """
        spread, r2 = vector_spread(vectors), r_squared(vectors, self.targets)
        start = self.r2[0]
        self.r2.append(r2)
        has_fallen = r2 < min(0.0, start - CHANGE)
        is_collapsed = has_fallen and (self._is_alike(spread) or self._is_flat(spread))
        has_learnt = r2 > min(0.0, start + CHANGE)
        is_useless = is_warm and (not has_learnt or (r2 < CHANGE and self._is_plateau()))
        self.doubts = self.doubts + 1 if is_collapsed or is_useless else 0
        if self.doubts < DOUBTS:
            return
        what = f"held-out R² {r2:.2f}, {start:.2f} before training; {self._describe(spread)}"
        if has_fallen:
            self._stop(
                f"the student collapses ({what}): lower learning_rate, now {self.learning_rate:g},"
                " and rows_learning_rate"
            )
        else:
            self._stop(
                f"the student has learnt nothing so far ({what}): train more rows or layers, raise"
                f" learning_rate, now {self.learning_rate:g}, or {EXTEND}"
            )

    @property
    def _min_rank(self) -> float:
        """Few texts, or much the same ones, have a low rank by the teacher too."""
        return min(MIN_RANK, self.teacher.effective_rank / 2)

    def _is_plateau(self) -> bool:
        """Whether the last checks brought no progress over all those before."""
        earlier, recent = self.r2[:-PLATEAU_CHECKS], self.r2[-PLATEAU_CHECKS:]
        return len(earlier) >= PLATEAU_CHECKS and max(recent) < max(earlier) + CHANGE / 10

    def _is_alike(self, spread: VectorSpread) -> bool:
        return 1 - spread.mean_cosine < MIN_DISTANCE_SHARE * (1 - self.teacher.mean_cosine)

    def _is_flat(self, spread: VectorSpread) -> bool:
        return spread.centred_rank < MIN_RANK_SHARE * self.teacher.centred_rank

    def _describe(self, spread: VectorSpread) -> str:
        return (
            f"mean pairwise cosine {spread.mean_cosine:.2f}, the teacher's"
            f" {self.teacher.mean_cosine:.2f}; effective rank {spread.centred_rank:.0f}, the"
            f" teacher's {self.teacher.centred_rank:.0f}"
        )

    def _warn(self, sentence: str) -> None:
        kind = sentence.partition("(")[0]  # without its figures, which differ each time
        if kind not in self._reported:
            self._reported.add(kind)
            self.reporter.warn(sentence)

    def _stop(self, sentence: str) -> None:
        if not self.force:
            raise CollapseError(f"{sentence}{FORCE}")
        self._warn(sentence)
        self.doubts = 0
