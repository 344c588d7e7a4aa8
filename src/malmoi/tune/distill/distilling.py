"""Distills a teacher into a student of another language, and saves it as a folder."""

import shlex
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from malmoi.arguments import expect_path, settings_or_default
from malmoi.evaluate.suites.result import SuiteScores, make_rows
from malmoi.evaluate.suites.task import Measure
from malmoi.extras import require
from malmoi.files.checkpoint import Checkpointer, checkpoint_path, discard_checkpoint
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.train.common.loop import TrainingLoop
from malmoi.tune.data.batches import ExampleBatch, NumberedExamples, epoch_batches
from malmoi.tune.data.tables import DataSource
from malmoi.tune.distill.parallel import DistillData, parallel_sources
from malmoi.tune.distill.preparation import DevSets, PreparedDistillation, dev_sets, prepare
from malmoi.tune.distill.result import MODELS, DistillResult, distill_card
from malmoi.tune.distill.settings import DistillSettings
from malmoi.tune.model_card import changed_settings, option_words
from malmoi.tune.saving import check_target, save_tuned

if TYPE_CHECKING:
    from malmoi.tune.distill.student import StudentVectors
    from malmoi.tune.distill.trainer import DistillTrainer

SEED = 0  # of the bootstrap
F1 = "f1"  # of translations, which accuracy shows more plainly


def distill(
    data: DistillData | DataSource | Sequence[str | Path],
    model: str,
    out: str | PathLike[str],
    settings: DistillSettings | None = None,
    *,
    dev: DevSets = (),
    resume: bool = False,
    reporter: Reporter = DEFAULT_REPORTER,
) -> DistillResult:
    """Distill a teacher into a student of another language, by translations.

    The student learns to give a translation the vector that the teacher gives to its source text.
    A run whose student collapses, so that all its vectors are alike, is stopped. The state of the
    run is written every minute to a file beside `out`, so that it can resume.

    Args:
        data: Source texts with their translations: CSV, TSV, JSON lines or Parquet, several such
            files, a table, a list of pairs; or `DistillData` with texts of one language too.
        model: The student, a model of the BERT family that has tokens for the target language: a
            folder such as `malmoi tune extend` writes, or a name on the Hub.
        out: The folder to write; it must not exist yet.
        settings: Teacher, bridge, loss, and what is trained; by default `DistillSettings()`.
        dev: Sets of pairs with scores in either language, to be scored before and after. They
            choose nothing: the state with the best R² on held-out translations is kept.
        resume: Continue an interrupted run with the same data and settings.
        reporter: Receives progress in texts, losses and warnings.

    Returns:
        Scores before and after, with verdicts.

    Raises:
        InvalidArgumentError: The data or settings do not fit each other or the models.
        CollapseError: The student collapses, or cannot read the target language.
        InvalidFileError: A file cannot be read, `out` exists, or it cannot be written.
        MissingDependencyError: torch is not installed.
    """
    expect_reporter(reporter)
    settings, folder = settings_or_default(settings, DistillSettings), expect_path(out)
    check_target(folder)
    require("torch", extra="train")
    from malmoi.models.nnlm_network import repeatable
    from malmoi.tune.distill.student import StudentVectors

    given = data if isinstance(data, DistillData) else DistillData(parallel=data)
    prepared = prepare(given, model, settings, dev, reporter)
    path = checkpoint_path(folder)
    checkpointer = Checkpointer(path, prepared.fingerprint(), resume=resume)
    with repeatable(settings.seed, settings.threads):
        trainer = new_trainer(prepared)
        student = StudentVectors(prepared.encoder, trainer.network)
        loop = _train(trainer, student, prepared, checkpointer, reporter)
        after = [task.measure(student) for task in prepared.tasks]
    state = loop.state
    result = DistillResult(
        folder=folder,
        model=model,
        teacher=settings.teacher,
        data=prepared.data.sources,
        command=_command(given, model, folder, settings, dev),
        texts=state.done,
        steps=state.step,
        best_step=state.best_step,
        seconds=state.seconds,
        stopped=state.stopped,
        scores=_compare(prepared, after),
        history=state.history,
    )
    save_tuned(prepared.encoder, trainer.network, folder, distill_card(result, settings))
    discard_checkpoint(path)
    return result


def new_trainer(prepared: PreparedDistillation) -> "DistillTrainer":
    """The student's network with its targets and its guard, ready for its first step."""
    from malmoi.tune.distill.losses import make_loss
    from malmoi.tune.distill.student import (
        GuardSchedule,
        StudentVectors,
        new_network,
        trained_rows,
    )
    from malmoi.tune.distill.trainer import DistillTrainer

    settings, encoder = prepared.settings, prepared.encoder
    network = new_network(encoder, settings)
    guard = GuardSchedule(prepared.guard, StudentVectors(encoder, network), settings.learning_rate)
    return DistillTrainer(
        network,
        prepared.token_ids,
        prepared.targets.vectors,
        make_loss(settings.loss, settings.similarity_weight),
        is_trained=trained_rows(encoder, settings),
        rows_factor=settings.rows_learning_rate / settings.learning_rate,
        weight_decay=settings.weight_decay,
        after_step=guard,
    )


def _train(
    trainer: "DistillTrainer",
    student: "StudentVectors",
    prepared: PreparedDistillation,
    checkpointer: Checkpointer,
    reporter: Reporter,
) -> TrainingLoop[ExampleBatch]:
    """Train over all epochs."""
    from malmoi.tune.distill.student import HeldOutPairs

    settings, targets = prepared.settings, prepared.targets
    examples = numbered_texts(prepared)

    def batches(epoch: int) -> list[ExampleBatch]:
        return epoch_batches([examples], settings.batch_size, settings.seed, epoch)

    loop = TrainingLoop(
        trainer=trainer,
        epoch_batches=batches,
        examples=len(examples),
        settings=settings,
        checkpointer=checkpointer,
        reporter=reporter,
        dev=HeldOutPairs(prepared.data.held_out, targets.held_out, student, targets.with_sources),
        name="distilling",
    )
    loop.restore()
    loop.run()
    return loop


def numbered_texts(prepared: PreparedDistillation) -> NumberedExamples:
    """The training texts as examples of one text each; their targets are the labels."""
    tokens = np.array([len(ids) for ids in prepared.token_ids], np.int64)
    numbers = np.arange(len(tokens))[:, np.newaxis]
    return NumberedExamples(numbers, tokens, prepared.targets.vectors, "mse")


def _compare(prepared: PreparedDistillation, after: list[list[Measure]]) -> SuiteScores:
    """The scores of all tasks before and after, with their differences."""
    each = zip(prepared.tasks, prepared.before, after, strict=True)
    rows = (row for task, *measures in each for row in make_rows(task, measures, SEED))
    return SuiteScores(MODELS, tuple(row for row in rows if not row.metric.startswith(F1)))


def _command(
    data: DistillData, model: str, out: Path, settings: DistillSettings, dev: DevSets
) -> str:
    """The command that does the same; what is not in a file has a name in capitals there."""
    words = ["malmoi", "tune", "distill"]
    words += [_path(source, "PARALLEL") for source in parallel_sources(data.parallel)]
    words += ["--model", model, "--out", str(out)]
    for name in ("texts", "source_texts", "translations"):
        if value := getattr(data, name):
            words += [f"--{name.replace('_', '-')}", _path(value, name.upper())]
    for one in dev_sets(dev):
        words += ["--dev", _path(one, "DEV")]
    return shlex.join([*words, *option_words(changed_settings(settings))])


def _path(source: object, otherwise: str) -> str:
    return str(source) if isinstance(source, str | Path) else otherwise
