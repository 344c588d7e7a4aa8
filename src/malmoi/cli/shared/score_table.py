"""Scores as a table: one model with its intervals, or several side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

from malmoi.cli.shared.text_width import fitted
from malmoi.evaluate.scores import Score

MODELS_PER_TABLE = 3  # that fit into 80 columns


@dataclass(frozen=True)
class ScoreRow:
    """A line of the table: a heading, or a test set with its score and sample size."""

    label: str
    score: Score | None = None
    sample: str = ""


def print_scores(titles: Sequence[str], models: Sequence[Sequence[ScoreRow]]) -> None:
    """Print the scores of models with the same rows."""
    if len(models) == 1:
        print_one(titles[0], models[0])
        return
    for first in range(0, len(models), MODELS_PER_TABLE):
        print_several(
            titles[first : first + MODELS_PER_TABLE], models[first : first + MODELS_PER_TABLE]
        )


def print_one(title: str, rows: Sequence[ScoreRow]) -> None:
    """Print one model: score, confidence interval, questions answered."""
    print(f"{fitted(title, 31)} score         95 %        answered")
    for row in rows:
        if row.score is None:
            print(row.label)
        else:
            columns = f"{_figure(row.score):>6}  {row.score.interval:^15}  {row.sample}"
            print(fitted(row.label, 30), columns)


def print_several(titles: Sequence[str], models: Sequence[Sequence[ScoreRow]]) -> None:
    """Print models side by side: score, half its interval, the share answered."""
    heads = "".join(f"  {fitted(title, 18)}" for title in titles)
    print(f"{fitted('', 20)}{heads.rstrip()}")
    for rows in zip(*models, strict=True):
        cells = [_cell(row.score) for row in rows if row.score is not None]
        label = fitted(rows[0].label, 20) if cells else rows[0].label
        print(label + "".join(f"  {cell}" for cell in cells))


def answered(score: Score) -> str:
    """How many questions were answered, of all."""
    return f"{score.answered:,}/{score.total:,}"


def _figure(score: Score) -> str:
    return f"{score.value:.3f}" if score.fits else "—"


def _cell(score: Score) -> str:
    """One cell, 18 columns wide."""
    half_width = ""
    if score.fits and score.low is not None and score.high is not None:
        half_width = f"±{(score.high - score.low) / 2:.3f}"
    return f"{_figure(score):>6} {half_width:>6} {1 - score.unanswered:>4.0%}"
