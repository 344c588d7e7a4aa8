"""The scores of models on the tasks of a suite, side by side, and which differences are real."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from malmoi.evaluate.scores import Score
from malmoi.evaluate.suites.differences import Difference, Verdict, paired_difference
from malmoi.evaluate.suites.task import EvaluationTask, Language, Measure, TaskKind
from malmoi.table import Table, TableCell, Tabular

MARKS: dict[Verdict, str] = {"better": "+", "worse": "-", "no difference": ""}


@dataclass(frozen=True)
class SuiteRow:
    """One metric of a task: a score per model, and the difference of each pair of models.

    `differences[i, j]` is the score of model j minus that of model i; None where undefined.
    """

    task: str
    language: Language
    kind: TaskKind
    metric: str
    is_main: bool  # the metric that stands for the task
    scores: tuple[Score, ...]
    differences: dict[tuple[int, int], Difference | None]

    def verdict(self, model: int) -> Verdict | None:
        """How a model compares with the first one; None for the first, or where undefined."""
        difference = self.differences.get((0, model))
        return None if difference is None else difference.verdict

    def mark(self, model: int) -> str:
        """+ or - where a model is really better or worse than the first."""
        verdict = self.verdict(model)
        return "" if verdict is None else MARKS[verdict]


@dataclass(frozen=True, repr=False)
class SuiteScores(Tabular):
    """The scores of models on the tasks of a suite; `missing` are tasks without data."""

    models: tuple[str, ...]
    rows: tuple[SuiteRow, ...]
    missing: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[SuiteRow]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return self._table().text()

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per metric of a task, as `malmoi evaluate --json` prints them."""
        return [
            {
                "task": row.task,
                "language": row.language,
                "kind": row.kind,
                "metric": row.metric,
                "main": row.is_main,
                "scores": [
                    {"model": model, **asdict(score)}
                    for model, score in zip(self.models, row.scores, strict=True)
                ],
                "differences": [
                    {
                        "model": self.models[j],
                        "minus": self.models[i],
                        **(asdict(each) if each else {}),
                        "verdict": each.verdict if each else None,
                    }
                    for (i, j), each in row.differences.items()
                ],
            }
            for row in self.rows
        ]

    def _table(self) -> Table:
        header = ["task", "metric", "n", *self.models]
        rows: list[tuple[TableCell, ...]] = [
            (row.task, row.metric, row.scores[0].total, *_cells(row)) for row in self.rows
        ]
        better = f"; + better, - worse than {self.models[0]}" if len(self.models) > 1 else ""
        return Table(f"Suite: scores with half of their 95 % interval{better}", header, rows)


def make_rows(task: EvaluationTask, by_model: list[list[Measure]], seed: int) -> Iterator[SuiteRow]:
    """The rows of a task from the measures of each model, in the same order of metrics."""
    for number, measures in enumerate(zip(*by_model, strict=True)):
        draws = [measure.draws(seed) for measure in measures]
        scores = tuple(one.score(drawn) for one, drawn in zip(measures, draws, strict=True))
        differences = {
            (i, j): paired_difference((scores[i].value, scores[j].value), (draws[i], draws[j]))
            for i, j in combinations(range(len(scores)), 2)
        }
        yield SuiteRow(
            task.name,
            task.language,
            task.kind,
            measures[0].metric,
            number == 0,
            scores,
            differences,
        )


def _cells(row: SuiteRow) -> Iterator[str]:
    for model, score in enumerate(row.scores):
        if score.value is None or score.low is None or score.high is None:
            yield "—"
        else:
            yield f"{score.value:.3f} ±{(score.high - score.low) / 2:.3f}{row.mark(model)}"
