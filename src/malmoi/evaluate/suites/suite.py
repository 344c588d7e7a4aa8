"""Evaluates encoders on the tasks of a suite, or on tasks of one's own, with cached vectors."""

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import get_args

from malmoi.arguments import expect, expect_count
from malmoi.encode.loading import load_encoder
from malmoi.encode.protocol import Encoder, expect_encoder
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.scores import seeded_generator
from malmoi.evaluate.sets.locate_sets import DATA_VARIABLE
from malmoi.evaluate.suites.embedder import Embedder
from malmoi.evaluate.suites.installed_tasks import Suite, installed_tasks
from malmoi.evaluate.suites.result import SuiteScores, make_rows
from malmoi.evaluate.suites.task import EvaluationTask, Measure
from malmoi.evaluate.suites.vector_cache import VectorCache
from malmoi.reporting.reporter import DEFAULT_REPORTER, InputTotals, Reporter, expect_reporter

MIN_LIMIT = 20  # texts per task


def evaluate_suite(
    models: str | Encoder | Sequence[str | Encoder],
    suite: Suite | None = "all",
    *,
    tasks: Iterable[EvaluationTask] = (),
    limit: int | None = None,
    cache: bool = True,
    seed: int = 0,
    reporter: Reporter = DEFAULT_REPORTER,
) -> SuiteScores:
    """Evaluate encoders on all tasks of a suite, and test which differences are significant.

    Args:
        models: Encoders or their names, for `load_encoder`; word vectors are averaged.
        suite: The installed tasks to use, by language: `ko`, `en` or `all`; their data are below
            $MALMOI_DATA. None for the given tasks alone.
        tasks: Tasks of one's own, as `load_task` reads them.
        limit: At most about this many texts per task. Without it, large sets are sampled to a
            size that suits two cores; samples are always the same.
        cache: Keep the vectors of models that are given by name in the cache folder.
        seed: Seed of the bootstrap.
        reporter: Receives the progress and warnings.

    Returns:
        Scores with 95 % intervals, and differences by a paired bootstrap.

    Raises:
        InvalidArgumentError: There are no tasks, or an argument is not valid.
        InvalidFileError: A model or the file of a task cannot be read.
    """
    expect_reporter(reporter)
    chosen = _chosen_models(models)
    seeded_generator(seed)  # raises for an invalid seed
    if limit is not None:
        expect_count(limit, "limit")
        if limit < MIN_LIMIT:
            raise InvalidArgumentError(f"limit is {limit}: pass at least {MIN_LIMIT} texts")
    all_tasks, missing = _chosen_tasks(suite, tasks)
    if limit is not None:
        all_tasks = [task.limited(limit) for task in all_tasks]
    by_model = [_measures(model, all_tasks, cache, reporter) for model in chosen]
    rows = [
        row
        for task, measures in zip(all_tasks, zip(*by_model, strict=True), strict=True)
        for row in make_rows(task, list(measures), seed)
    ]
    names = tuple(model if isinstance(model, str) else model.name for model in chosen)
    return SuiteScores(names, tuple(rows), tuple(missing))


def _measures(
    model: str | Encoder, tasks: Sequence[EvaluationTask], cache: bool, reporter: Reporter
) -> list[list[Measure]]:
    """The measures of one model on each task."""
    encoder = load_encoder(model) if isinstance(model, str) else model
    kept = VectorCache(encoder) if cache and isinstance(model, str) else None
    progress, measures = reporter.stage(f"evaluating {encoder.name}", "tasks"), []
    with InputTotals(reporter) as totals:
        embed = Embedder(encoder, kept, totals)
        for done, task in enumerate(tasks):
            progress(done, len(tasks))
            measures.append(task.measure(embed))
        progress(len(tasks), len(tasks))
    return measures


def _chosen_models(models: object) -> list[str | Encoder]:
    several = list(models) if isinstance(models, list | tuple) else [models]
    if not several:
        raise InvalidArgumentError("models is empty: name at least one, such as minilm")
    for model in several:
        if isinstance(model, PathLike):
            continue
        if not isinstance(model, str):
            expect_encoder(model, "models")
    return [str(model) if isinstance(model, PathLike) else model for model in several]


def _chosen_tasks(
    suite: Suite | None, tasks: Iterable[EvaluationTask]
) -> tuple[list[EvaluationTask], list[str]]:
    """The tasks of the suite and the user's own, and the tasks whose data are missing."""
    if suite is not None and suite not in get_args(Suite):
        raise InvalidArgumentError(
            f"suite is {suite!r}: choose one of {', '.join(get_args(Suite))}, or None"
        )
    expect(tasks, Iterable, "tasks", "a list of tasks, as load_task reads them")
    own = list(tasks)
    for task in own:
        if not callable(getattr(task, "measure", None)):
            raise InvalidArgumentError(
                f"tasks must be tasks, as load_task reads them, not {type(task).__name__}"
            )
    installed, missing = installed_tasks(suite) if suite else ([], [])
    if not installed and not own:
        raise InvalidArgumentError(
            "there are no tasks: pass some, or set MALMOI_DATA to a folder with the data of the"
            f" suite ({', '.join(missing) or f'suite is None; {DATA_VARIABLE}'})"
        )
    return [*installed, *own], missing
