"""`malmoi evaluate --suite`: options, scores, the table and JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import print_json
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_width import fitted, wrapped
from malmoi.evaluate.scores import Score
from malmoi.evaluate.suites.installed_tasks import Suite
from malmoi.evaluate.suites.result import SuiteRow, SuiteScores
from malmoi.evaluate.suites.suite import evaluate_suite
from malmoi.evaluate.suites.task import EvaluationTask, TaskKind
from malmoi.evaluate.suites.task_files import load_task
from malmoi.plots.interval_plot import IntervalRow, interval_plot
from malmoi.plots.svg import check_svg, write_svg

LABEL_WIDTH, MODELS_PER_TABLE = 28, 3
TITLES: dict[TaskKind, str] = {
    "sts": "sentence similarity",
    "nli": "entailment",
    "paraphrases": "paraphrases found",
    "retrieval": "retrieval",
    "bitext": "translations found",
    "classification": "classification by a linear probe",
    "clustering": "clustering",
}
Files = list[Path] | None
Repeatable = Parameter(negative="", consume_multiple=False)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class SuiteOptions:
    """Options of the evaluation of encoders on a suite of tasks."""

    suite: Annotated[
        Suite | None, Parameter(help="Run all tasks of a language in $MALMOI_DATA.")
    ] = None
    retrieval: Annotated[
        Files, Repeatable, Parameter(help="A BEIR folder, or JSON as of SQuAD and KorQuAD.")
    ] = None
    classification: Annotated[
        Files, Repeatable, Parameter(help="A table of texts with labels, for a linear probe.")
    ] = None
    clustering: Annotated[
        Files, Repeatable, Parameter(help="A table of texts with labels, to find by clusters.")
    ] = None
    paraphrases: Annotated[
        Files, Repeatable, Parameter(help="A table of texts with the names of their groups.")
    ] = None
    nli: Annotated[
        Files, Repeatable, Parameter(help="A table of premises, hypotheses and relations.")
    ] = None
    bitext: Annotated[
        Files, Repeatable, Parameter(help="A table of texts and their translations.")
    ] = None
    cache: Annotated[
        bool, Parameter(negative="--no-cache", help="Keep vectors in the cache folder.")
    ] = True
    plot: Annotated[Path | None, Parameter(help="Draw the scores: scores.svg.")] = None

    @property
    def own_files(self) -> list[tuple[Path, TaskKind]]:
        """The files of the user's tasks, with their kinds."""
        kinds: tuple[TaskKind, ...] = (
            *("nli", "paraphrases", "retrieval"),
            *("bitext", "classification", "clustering"),
        )
        return [(path, kind) for kind in kinds for path in getattr(self, kind) or ()]


def evaluate_models(
    models: Sequence[str],
    options: SuiteOptions,
    files: Sequence[str],
    *,
    limit: int | None,
    seed: int,
    json: bool,
) -> None:
    """Evaluate models on a suite; print the scores, and draw them."""
    if options.plot is not None:
        check_svg(options.plot)
    tasks: list[EvaluationTask] = [load_task(path, "sts") for path in files]
    tasks += [load_task(path, kind) for path, kind in options.own_files]
    with TerminalReporter() as reporter:
        scores = evaluate_suite(
            list(models),
            options.suite,
            tasks=tasks,
            limit=limit,
            cache=options.cache,
            seed=seed,
            reporter=reporter,
        )
    if json:
        record = {"models": list(models), "rows": scores.records(), "missing": [*scores.missing]}
        print_json(record)
    else:
        print_suite(scores)
    if options.plot is not None:
        write_svg(options.plot, plot_scores(scores))


def print_suite(scores: SuiteScores) -> None:
    """Print one line per metric, models side by side, three abreast."""
    for first in range(0, len(scores.models), MODELS_PER_TABLE):
        models = range(first, min(first + MODELS_PER_TABLE, len(scores.models)))
        heads = "".join(f" {fitted(Path(scores.models[i]).name, 14)}" for i in models)
        print(f"{fitted('', LABEL_WIDTH)} {'n':>6}{heads}".rstrip())
        kind = None
        for row in scores.rows:
            if row.kind != kind:
                kind = row.kind
                print(f"{TITLES[kind]}: {row.metric}")
            is_alone = len(scores.models) == 1
            cells = "".join(f" {_cell(row.scores[i], is_alone) + row.mark(i):14}" for i in models)
            print(f"{fitted(_label(row), LABEL_WIDTH)} {row.scores[0].total:>6,}{cells}".rstrip())
    if len(scores.models) > 1:
        name = Path(scores.models[0]).name
        print(wrapped(f"+ better, - worse than {name}: the 95 % interval of the difference, by a"
                      " paired bootstrap, excludes 0"))  # fmt: skip
    if scores.missing:
        print(wrapped(f"no data for: {', '.join(scores.missing)}"))


def plot_scores(scores: SuiteScores) -> str:
    """The main metric of each task, with intervals."""
    rows = [
        IntervalRow(
            f"{row.task}, {row.metric}",
            [(score.value, score.low, score.high) for score in row.scores],
        )
        for row in scores.rows
        if row.is_main
    ]
    names = [Path(model).name for model in scores.models]
    return interval_plot(rows, names, title="Scores with 95 % intervals")


def _label(row: SuiteRow) -> str:
    """The task, or for its further metrics their names."""
    return f"  {row.task}" if row.is_main else f"    {row.metric}"


def _cell(score: Score, is_alone: bool) -> str:
    """The score with its interval, or where models stand side by side, half of its width."""
    if score.value is None or score.low is None or score.high is None:
        return "—"
    if is_alone:
        return f"{score.value:.3f}  {score.interval}"
    return f"{score.value:.3f} ±{(score.high - score.low) / 2:.3f}"
