"""Fits token vectors to the teacher's vectors of texts, epoch by epoch, and keeps the best."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from malmoi.arrays import Float32Array, Int64Array, UInt32Array
from malmoi.encode.protocol import Encoder
from malmoi.encode.static.static_encoder import mean_rows
from malmoi.encode.static.token_lookup import Tokens
from malmoi.encode.tokens.tokenizer import WORD_START
from malmoi.errors import InvalidArgumentError
from malmoi.kernels.static.token_trainer import TokenKernel
from malmoi.reporting.reporter import Reporter, SilentReporter
from malmoi.text.parallel import in_order
from malmoi.tune.static.settings import StaticSettings
from malmoi.vectors import l2_normalize

CHUNK_TEXTS = 4096  # that a thread trains at a time


@dataclass(frozen=True, kw_only=True)
class HeldOutFit:
    """How well the student fits the teacher's vectors of texts that it was not trained on.

    `r2` is 1 − |student − teacher|² / variance of the teacher: 0 for a student that always
    predicts the mean, which a cosine alone does not show.
    """

    epoch: int
    cosine: float
    r2: float


def first_table(
    teacher: Encoder, names: list[str], counts: Int64Array, axes: Float32Array, smoothing: float
) -> Float32Array:
    """The teacher's own vector of each token along the axes, weighted by SIF: [tokens, dim]."""
    texts = [name.replace(WORD_START, "") or name for name in names]
    vectors = l2_normalize(teacher.encode(texts, reporter=SilentReporter()) @ axes)
    shares = counts / max(int(counts.sum()), 1)
    weights = (smoothing / (smoothing + shares)).astype(np.float32)
    return np.ascontiguousarray(vectors * weights[:, np.newaxis])


def fit_table(
    table: Float32Array,
    tokens: Tokens,
    targets: Float32Array,
    settings: StaticSettings,
    reporter: Reporter,
) -> tuple[Float32Array, tuple[HeldOutFit, ...]]:
    """Train a table on all texts but the last, which are held out.

    Returns:
        The table of the epoch with the highest cosine on held-out texts, and the fit of each
        epoch, the untrained table first.
    """
    total = len(targets) - num_held_out(len(targets), settings.held_out)
    random, kernel = np.random.default_rng(settings.seed), TokenKernel(*tokens, table)
    fits = [held_out_fit(0, table, tokens, targets, total)]
    best, progress = table.copy(), reporter.stage("training", "texts")
    for epoch in range(settings.epochs):
        order = random.permutation(total).astype(np.uint32)
        rate = settings.learning_rate * (1 - epoch / settings.epochs)
        for loss in train_epoch(kernel, order, targets, rate, settings.threads):
            reporter.loss(loss)
        progress((epoch + 1) * total, settings.epochs * total)
        check_finite(table, settings.learning_rate)
        fits.append(held_out_fit(epoch + 1, table, tokens, targets, total))
        if fits[-1].cosine >= max(fit.cosine for fit in fits):
            best = table.copy()
    return best, tuple(fits)


def train_epoch(
    kernel: TokenKernel, order: UInt32Array, targets: Float32Array, rate: float, threads: int
) -> Iterator[float]:
    """Train texts in this order on several threads; yields the mean loss of chunks."""
    chunks = [order[start : start + CHUNK_TEXTS] for start in range(0, len(order), CHUNK_TEXTS)]
    losses = np.zeros(len(chunks))

    def train(chunk: int) -> float:
        kernel.learn_targets(chunks[chunk], targets, rate, losses, chunk)
        return float(losses[chunk]) / len(chunks[chunk])

    yield from in_order(train, range(len(chunks)), threads)


def num_held_out(texts: int, most: int) -> int:
    """How many texts are held out: a tenth of all, but not more than `most`, and one at least."""
    return max(1, min(most, texts // 10))


def held_out_fit(
    epoch: int, table: Float32Array, tokens: Tokens, targets: Float32Array, first: int
) -> HeldOutFit:
    """The fit on the texts from `first` on."""
    offsets, ids = tokens[0][first:], tokens[1]
    vectors = l2_normalize(mean_rows(offsets - offsets[0], ids[offsets[0] :], table))
    theirs = targets[first:]
    variance = float(((theirs - theirs.mean(axis=0)) ** 2).sum()) or 1.0
    error = float(((vectors - theirs) ** 2).sum())
    cosine = float((vectors * theirs).sum(axis=1).mean())
    return HeldOutFit(epoch=epoch, cosine=cosine, r2=1 - error / variance)


def check_finite(table: Float32Array, rate: float) -> None:
    """Raise `InvalidArgumentError` if the training has diverged."""
    if not np.isfinite(table.sum()):
        raise InvalidArgumentError(
            f"training diverged (vectors are not finite): lower learning_rate (now {rate:g})"
        )
