"""Tunes a static encoder on pairs with scores, by cosine regression of its token vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int32Array
from malmoi.encode.static.saving import save_static
from malmoi.encode.static.static_encoder import StaticEncoder
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.scores import correlation, spearman
from malmoi.evaluate.sentences import pair_cosines
from malmoi.evaluate.sets.sentence_sets import SentenceSet
from malmoi.kernels.static.token_trainer import TokenKernel
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, SilentReporter
from malmoi.tune.data.examples import ExampleSet
from malmoi.tune.model_card import model_card
from malmoi.tune.result import TuneResult, compare
from malmoi.tune.settings import TuneSettings
from malmoi.tune.static.trainer import check_finite

LEARNING_RATE = 0.2  # the length of a row's first step; higher rates harm other texts
OBJECTIVE = "cosine"


@dataclass(frozen=True, eq=False)
class DevPairs:
    """A dev set: its texts, the two texts of each pair [pairs, 2], and the scores."""

    texts: list[str]
    pairs: Int32Array
    scores: Float64Array

    def cosines(self, encoder: StaticEncoder) -> Float64Array:
        """The cosine of each pair; 0 for texts without a vector."""
        vectors = encoder.encode(self.texts, reporter=SilentReporter())
        one, other = vectors[self.pairs[:, 0]], vectors[self.pairs[:, 1]]
        return np.nan_to_num(pair_cosines(one, other), nan=0.0)

    def spearman(self, cosines: Float64Array) -> float:
        """Spearman's correlation of cosines and scores; 0 where it is undefined."""
        return spearman(cosines, self.scores) or 0.0


@dataclass(frozen=True, eq=False)
class TrainedTable:
    """The table of the best epoch, and the dev set's cosines before and after."""

    table: Float32Array
    epoch: int
    before: Float64Array
    after: Float64Array
    history: tuple[tuple[int, float], ...] = ()


def tune_static(
    sets: Sequence[ExampleSet],
    encoder: StaticEncoder,
    folder: Path,
    settings: TuneSettings,
    *,
    dev: SentenceSet | None = None,
    command: str = "",
    reporter: Reporter = DEFAULT_REPORTER,
) -> TuneResult:
    """Tune a static encoder on pairs with scores, and save it as a folder.

    Of the settings, `epochs`, `learning_rate` and `seed` apply; the default rate becomes one that
    suits token vectors. With a dev set the epoch with the best score is kept.

    Args:
        sets: Pairs with scores between 0 and 1.
        encoder: The encoder to tune; it does not change.
        folder: The folder to write.
        settings: How to tune.
        dev: Pairs with scores.
        command: The command for the model card.
        reporter: Receives progress and losses.

    Returns:
        Scores before and after.

    Raises:
        InvalidArgumentError: The examples are not pairs with scores, or training diverged.
        InvalidFileError: The folder exists or cannot be written.
    """
    start = monotonic()
    examples, scores = _pairs(sets)
    texts, pairs = number_texts(examples)
    tested = None if dev is None else _dev_pairs(dev)
    trained = _train(encoder, texts, pairs, scores, tested, settings, reporter)
    result = TuneResult(
        folder=folder,
        model=encoder.name,
        data=tuple(f"{one.source}: {len(one):,} examples, {one.title}" for one in sets),
        command=command,
        examples=settings.epochs * len(pairs),
        steps=settings.epochs,
        best_step=trained.epoch,
        seconds=monotonic() - start,
        stopped="",
        history=trained.history,
    )
    if tested is not None:
        before, after, count = trained.before, trained.after, len(tested.scores)
        result = replace(
            result,
            before=correlation(before, tested.scores, count),
            after=correlation(after, tested.scores, count),
            difference=compare(before, after, tested.scores),
        )
    parts = encoder.parts
    save_static(
        folder,
        trained.table[: parts.tokenizer.get_vocab_size()],
        parts.tokenizer,
        card=model_card(result, settings),
        normalize=parts.normalize,
        max_length=parts.max_length,
    )
    return result


def _train(
    encoder: StaticEncoder,
    texts: list[str],
    pairs: Int32Array,
    scores: Float32Array,
    dev: DevPairs | None,
    settings: TuneSettings,
    reporter: Reporter,
) -> TrainedTable:
    """All epochs; keeps the table of the best dev score, or else the last one."""
    table: Float32Array = np.array(encoder.parts.table, np.float32)
    tuned = replace(encoder, parts=replace(encoder.parts, table=table))
    kernel, rate = TokenKernel(*encoder.token_ids(texts), table), static_rate(settings)
    random, progress = np.random.default_rng(settings.seed), reporter.stage("tuning", "examples")
    before = np.empty(0) if dev is None else dev.cosines(encoder)
    best = TrainedTable(table.copy(), 0, before, before)
    history = [] if dev is None else [(0, dev.spearman(before))]
    for epoch in range(1, settings.epochs + 1):
        losses, order = np.zeros(1), random.permutation(len(pairs)).astype(np.uint32)
        falling = rate * (1 - (epoch - 1) / settings.epochs)
        kernel.learn_pairs(order, pairs, scores, falling, losses, 0)
        progress(epoch * len(pairs), settings.epochs * len(pairs))
        reporter.loss(float(losses[0]) / len(pairs))
        check_finite(table, rate)
        after = before if dev is None else dev.cosines(tuned)
        if dev is not None:
            history.append((epoch, dev.spearman(after)))
        if dev is None or history[-1][1] >= max(score for _, score in history):
            best = TrainedTable(table.copy(), epoch, before, after)
    return replace(best, history=tuple(history))


def static_rate(settings: TuneSettings) -> float:
    """The rate of row-wise AdaGrad: that of the settings, if it is not the default of AdamW."""
    is_default = settings.learning_rate == TuneSettings().learning_rate
    return LEARNING_RATE if is_default else settings.learning_rate


def number_texts(examples: Sequence[tuple[str, ...]]) -> tuple[list[str], Int32Array]:
    """The different texts, and the two numbers of each pair [pairs, 2]."""
    numbers: dict[str, int] = {}
    pairs = [[numbers.setdefault(text, len(numbers)) for text in pair] for pair in examples]
    return list(numbers), np.array(pairs, np.int32).reshape(-1, 2)


def _pairs(sets: Sequence[ExampleSet]) -> tuple[list[tuple[str, ...]], Float32Array]:
    for one in sets:
        if one.objective != OBJECTIVE:
            raise InvalidArgumentError(
                f"{one.source} has the objective {one.objective}, but a static encoder is tuned by"
                f" {OBJECTIVE} only: pass two texts and a number per row, and objective {OBJECTIVE}"
            )
    examples = [pair for one in sets for pair in one.texts]
    return examples, np.concatenate([one.labels for one in sets]).astype(np.float32)


def _dev_pairs(dev: SentenceSet) -> DevPairs:
    texts, pairs = number_texts([(pair.one, pair.other) for pair in dev.pairs])
    return DevPairs(texts, pairs, np.array([pair.score for pair in dev.pairs]))
