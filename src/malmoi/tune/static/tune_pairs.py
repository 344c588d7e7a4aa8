"""Tunes a static encoder on pairs with scores, by cosine regression of its token vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic

import numpy as np

from malmoi.arrays import Float32Array, Float64Array, Int32Array
from malmoi.encode.static.saving import save_static
from malmoi.encode.static.static_encoder import StaticEncoder
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.sets.sentence_sets import SentenceSet
from malmoi.kernels.static.token_trainer import TokenKernel
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, SilentReporter
from malmoi.tune.data.dev_pairs import DevPairs
from malmoi.tune.data.examples import ExampleSet
from malmoi.tune.model_card import model_card
from malmoi.tune.result import TuneResult
from malmoi.tune.sentence.settings import TuneSettings
from malmoi.tune.static.trainer import check_finite

LEARNING_RATE = 0.2  # the length of a row's first step; higher rates harm other texts
OBJECTIVE = "cosine"


@dataclass(eq=False)
class BestTable:
    """The table of the epoch with the best dev score, or of the last one without a dev set.

    `cosines` are those of the dev pairs, before and best.
    """

    table: Float32Array
    dev: DevPairs | None
    best: Float32Array = field(init=False)
    epoch: int = 0
    history: tuple[tuple[int, float], ...] = ()
    cosines: dict[str, Float64Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.best = self.table.copy()
        if self.dev is not None:
            score = self.dev.measure()
            self.history = ((0, score.value),)
            self.cosines = {"before": score.details, "best": score.details}

    def update(self, epoch: int) -> None:
        """Keep the table as it is now, if it is the best one."""
        if self.dev is not None:
            score = self.dev.measure()
            self.history = (*self.history, (epoch, score.value))
            if score.value < max(value for _, value in self.history):
                return
            self.cosines["best"] = score.details
        self.best, self.epoch = self.table.copy(), epoch


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
    start, rate = monotonic(), static_rate(settings)
    examples, scores = _pairs(sets)
    texts, pairs = number_texts(examples)
    table: Float32Array = np.array(encoder.parts.table, np.float32)
    tuned = replace(encoder, parts=replace(encoder.parts, table=table))
    kernel = TokenKernel(*encoder.token_ids(texts), table)
    kept = BestTable(table, None if dev is None else _dev_pairs(dev, tuned))
    random, progress = np.random.default_rng(settings.seed), reporter.stage("tuning", "examples")
    for epoch in range(settings.epochs):
        losses, order = np.zeros(1), random.permutation(len(pairs)).astype(np.uint32)
        falling = rate * (1 - epoch / settings.epochs)
        kernel.learn_pairs(order, pairs, scores, falling, losses, 0)
        progress((epoch + 1) * len(pairs), settings.epochs * len(pairs))
        reporter.loss(float(losses[0]) / len(pairs))
        check_finite(table, rate)
        kept.update(epoch + 1)
    result = TuneResult(
        folder=folder,
        model=encoder.name,
        data=tuple(f"{one.source}: {len(one):,} examples, {one.title}" for one in sets),
        command=command,
        examples=settings.epochs * len(pairs),
        steps=settings.epochs,
        best_step=kept.epoch,
        seconds=monotonic() - start,
        stopped="",
        history=kept.history,
    )
    if kept.dev is not None:
        result = result.with_scores(kept.cosines["before"], kept.cosines["best"], kept.dev.scores)
    parts, card = encoder.parts, model_card(result, settings)
    save_static(
        folder,
        kept.best[: parts.tokenizer.get_vocab_size()],
        parts.tokenizer,
        card=card,
        normalize=parts.normalize,
        max_length=parts.max_length,
    )
    return result


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


def _dev_pairs(dev: SentenceSet, encoder: StaticEncoder) -> DevPairs:
    texts, pairs = number_texts([(pair.one, pair.other) for pair in dev.pairs])
    quiet = SilentReporter()
    return DevPairs(
        pairs.astype(np.int64),
        np.array([pair.score for pair in dev.pairs]),
        lambda numbers: encoder.encode([texts[i] for i in numbers.tolist()], reporter=quiet),
    )
