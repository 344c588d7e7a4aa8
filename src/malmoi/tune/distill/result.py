"""What a distillation achieved: scores in both languages before and after, and its model card."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from malmoi.evaluate.scores import Score
from malmoi.evaluate.suites.result import SuiteRow, SuiteScores
from malmoi.tune.distill.settings import DistillSettings
from malmoi.tune.model_card import card_page, score_cells, training_section

MODELS = ("before", "after")


@dataclass(frozen=True, kw_only=True)
class DistillResult:
    """A student in a folder, and its scores before and after.

    `scores` has Spearman's correlation on each dev set, and how often the translation of a
    held-out text is the first among all of them, in both directions. `history` has the step and
    the held-out R² of each measure, the untrained student first; the folder has the weights of
    `best_step`. `command` is the command that does the same.
    """

    folder: Path
    model: str
    teacher: str
    data: tuple[str, ...]
    command: str
    texts: int
    steps: int
    best_step: int
    seconds: float
    stopped: str
    scores: SuiteScores
    history: tuple[tuple[int, float], ...]

    @property
    def r2(self) -> float:
        """The held-out R² of the folder."""
        return dict(self.history)[self.best_step]

    def sentences(self) -> list[str]:
        """The verdict on each score, one line each."""
        return [_verdict(row) for row in self.scores]

    def record(self) -> dict[str, Any]:
        """The result for JSON."""
        return {
            "written": str(self.folder),
            "data": list(self.data),
            "steps": self.steps,
            "best_step": self.best_step,
            "texts": self.texts,
            "seconds": round(self.seconds, 1),
            "stopped": self.stopped,
            "held_out": [{"step": step, "r2": r2} for step, r2 in self.history],
            "scores": self.scores.records(),
        }


def _verdict(row: SuiteRow) -> str:
    before, after = (_percent(score) for score in row.scores)
    line = f"{row.task}, {row.metric} (n = {row.scores[0].total:,}): {before} → {after}"
    change = row.differences.get((0, 1))
    if change is None:
        return line
    value, low, high = (100 * each for each in (change.value, change.low, change.high))
    return f"{line}, {value:+.2f} [{low:+.2f}, {high:+.2f}]: {change.verdict}"


def _percent(score: Score) -> str:
    return "undefined" if score.value is None else f"{100 * score.value:.2f}"


def distill_card(result: DistillResult, settings: DistillSettings) -> str:
    """The README.md of a student."""
    summary = (
        f"A sentence encoder: {result.model}, distilled from {result.teacher} with malmoi, so that"
        " a translation has the vector that the teacher gives to the original (Reimers and"
        " Gurevych 2020)."
    )
    data = "\n".join(f"- {line}" for line in result.data)
    training = training_section(result, result.texts, settings)
    sections = {"Scores": _scores(result), "Training data": data, "Training": training}
    return card_page(result.folder.name, summary, sections)


def _scores(result: DistillResult) -> str:
    lines = ["| | n | | score | 95 % interval |", "|---|--:|---|--:|---|"]
    for row in result.scores:
        for model, score in zip(MODELS, row.scores, strict=True):
            name = f"{row.task}, {row.metric}"
            lines.append(f"| {name} | {score.total:,} | {model} | {score_cells(score)} |")
    first = result.history[0][1]
    verdicts = [f"- {sentence}" for sentence in result.sentences()]
    r2 = f"Held-out R² = 1 − MSE / variance: {first:.3f} → {result.r2:.3f}."
    return "\n".join([*lines, "", "Differences by a paired bootstrap:", "", *verdicts, "", r2])
