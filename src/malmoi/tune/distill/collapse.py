"""The guard against collapse: a student whose vectors of all texts are nearly the same.

The loss does not show it: always predicting the mean of a teacher's unit vectors costs 0.0025 in
384 dimensions, which looks converged. What shows it is how far a student's vectors are apart, and
the held-out R² = 1 − MSE / variance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float32Array, Float64Array
from malmoi.encode.checkpoint.weights import read_weights, weights_file
from malmoi.encode.encoder import TransformerEncoder
from malmoi.encode.tokens.text_stats import TextStats
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import Reporter, SilentReporter
from malmoi.tune.distill.ridge import r_squared
from malmoi.vectors import l2_normalize

SAMPLE_TEXTS = 1000  # whose tokens are counted
MAX_UNKNOWN_SHARE = 0.2  # of texts with an unknown token: a warning
MAX_FRAGMENTS = 0.5  # of words that are unknown or single letters: the run stops
MAX_ROW_COSINE = 0.95  # of the rows of different tokens: the run stops
MIN_DISTANCE_SHARE = 0.7  # of the teacher's mean 1 − cosine, which is 0.96 for minilm: a warning
MIN_RANK = 10.0  # effective rank: a warning
MIN_RANK_SHARE = 0.1  # of the teacher's effective rank around the mean: the run stops
CHANGE = 0.05  # of R² that is more than noise
CHECK_STEPS = 25  # between checks
CHECKED_TEXTS = 128
DOUBTS = 2  # checks in a row that end a run
PLATEAU_CHECKS = 8  # without any progress
EXTEND = "give the student tokens of the language with `malmoi tune extend`"


class CollapseError(InvalidArgumentError):
    """A distillation that would make all vectors the same; `force` continues anyway."""


@dataclass(frozen=True, kw_only=True)
class VectorSpread:
    """How far vectors are apart.

    `mean_cosine` is the mean cosine of all pairs; `effective_rank` the exponential of the entropy
    of the spectrum of unit vectors (Roy and Vetterli 2007), `centred_rank` the same around their
    mean.
    """

    mean_cosine: float
    effective_rank: float
    centred_rank: float


def vector_spread(vectors: Float32Array) -> VectorSpread:
    """The spread of vectors [texts, dim], at least two."""
    units = l2_normalize(vectors).astype(np.float64)
    return VectorSpread(
        mean_cosine=mean_cosine(vectors),
        effective_rank=_effective_rank(units),
        centred_rank=_effective_rank(units - units.mean(axis=0)),
    )


def mean_cosine(vectors: Float32Array) -> float:
    """The mean cosine of all pairs of vectors; that of a zero vector with others is 0."""
    units = l2_normalize(vectors).astype(np.float64)
    squares = np.square(units).sum()
    total = float(np.square(units.sum(axis=0)).sum() - squares)
    return total / (len(units) * (len(units) - 1))


def _effective_rank(rows: Float64Array) -> float:
    energies = np.square(np.linalg.svd(rows, compute_uv=False))
    if energies.sum() < 1e-9 * len(rows):  # all rows are 0
        return 1.0
    shares = energies / energies.sum()
    shares = shares[shares > 0]
    return float(np.exp(-(shares * np.log(shares)).sum()))


@dataclass(frozen=True, kw_only=True)
class TokenShares:
    """Shares of texts with an unknown token, and of words that are unknown or single letters.

    `mean_cosine` is that of the rows of all different tokens of the texts, with one another.
    """

    unknown: float
    fragments: float
    mean_cosine: float


def token_shares(encoder: TransformerEncoder, texts: Sequence[str]) -> TokenShares:
    """How an encoder's tokenizer reads texts, and whether its table keeps their tokens apart."""
    encoded = encoder.pipeline.tokenize(texts)
    stats = TextStats()
    encoder.pipeline.count(encoded, stats)
    unknown = encoder.tokenizer.unk_token_id
    with_unknown = sum(unknown in encoding.ids for encoding in encoded.encodings)
    ids = {
        token_id
        for encoding in encoded.encodings
        for token_id, special in zip(encoding.ids, encoding.special_tokens_mask, strict=True)
        if not special
    }
    weights = read_weights(weights_file(encoder.modules.transformer), encoder.config)
    rows = weights["word_embeddings"][sorted(ids)]
    return TokenShares(
        unknown=with_unknown / len(texts),
        fragments=stats.fragments / max(stats.words, 1),
        mean_cosine=mean_cosine(rows) if len(rows) > 1 and rows.any() else 1.0,
    )


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

    def check_before(self, encoder: TransformerEncoder, texts: Sequence[str]) -> None:
        """Check how the untrained student reads texts of the target language.

        Raises:
            CollapseError: It cannot tell them apart.
        """
        shares = token_shares(encoder, texts[:SAMPLE_TEXTS])
        vectors = encoder.encode(self.texts, reporter=SilentReporter())
        spread, self.r2 = vector_spread(vectors), [r_squared(vectors, self.targets)]
        if shares.fragments > MAX_FRAGMENTS:
            self._stop(
                f"{encoder.name} reads {shares.fragments:.0%} of the words of the target language"
                f" as unknown tokens or single letters: {EXTEND}"
            )
        elif shares.unknown > MAX_UNKNOWN_SHARE:
            self._warn(
                f"{shares.unknown:.0%} of the texts have tokens that {encoder.name} does not know:"
                f" {EXTEND}"
            )
        if shares.mean_cosine > MAX_ROW_COSINE:
            self._stop(
                f"the rows of the target language's tokens in {encoder.name} are nearly the same"
                f" (mean pairwise cosine {shares.mean_cosine:.2f}): {EXTEND}"
            )
        if self._is_flat(spread):
            self._stop(
                "the untrained student's vectors of different texts are nearly the same"
                f" ({self._describe(spread)}): {EXTEND}"
            )
        elif self._is_alike(spread) or spread.effective_rank < MIN_RANK:
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
        if sentence not in self._reported:
            self._reported.add(sentence)
            self.reporter.warn(sentence)

    def _stop(self, sentence: str) -> None:
        if not self.force:
            raise CollapseError(f"{sentence}; force continues anyway")
        self._warn(sentence)
        self.doubts = 0
