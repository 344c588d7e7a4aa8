"""Scores as a table: one model with its intervals, or several side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

from malmoi.cli.shared.text_width import fitted
from malmoi.evaluate.scores import Score

ABREAST = 3  # models in one table of 80 columns


@dataclass(frozen=True)
class Row:
    """A line of the table: a heading, or a test with its score and what it rests on."""

    label: str
    score: Score | None = None
    rests_on: str = ""


def print_scores(titles: Sequence[str], models: Sequence[Sequence[Row]]) -> None:
    """Every model; all have the same rows."""
    if len(models) == 1:
        print_one(titles[0], models[0])
        return
    for first in range(0, len(models), ABREAST):
        print_several(titles[first : first + ABREAST], models[first : first + ABREAST])


def print_one(title: str, rows: Sequence[Row]) -> None:
    """A model: score, interval, how many were answered."""
    print(f"{fitted(title, 31)} score         95 %        answered")
    for row in rows:
        if row.score is None:
            print(row.label)
        else:
            reach = f"{_figure(row.score):>6}  {interval(row.score):^15}  {row.rests_on}"
            print(fitted(row.label, 30), reach)


def print_several(titles: Sequence[str], models: Sequence[Sequence[Row]]) -> None:
    """Models side by side: score, half its interval, the share answered."""
    heads = "".join(f"  {fitted(title, 18)}" for title in titles)
    print(f"{fitted('', 20)}{heads.rstrip()}")
    for rows in zip(*models, strict=True):
        cells = [_cell(row.score) for row in rows if row.score is not None]
        label = fitted(rows[0].label, 20) if cells else rows[0].label
        print(label + "".join(f"  {cell}" for cell in cells))


def answered(score: Score) -> str:
    """How many questions a score rests on."""
    return f"{score.answered:,}/{score.total:,}"


def _figure(score: Score) -> str:
    return f"{score.value:.3f}" if score.fits else "—"


def interval(score: Score) -> str:
    """From where to where, if there is a figure."""
    if not score.fits or score.low is None or score.high is None:
        return ""
    return f"{score.low:.3f} … {score.high:.3f}"


def _cell(score: Score) -> str:
    """18 columns."""
    reach = ""
    if score.fits and score.low is not None and score.high is not None:
        reach = f"±{(score.high - score.low) / 2:.3f}"
    return f"{_figure(score):>6} {reach:>6} {1 - score.unanswered:>4.0%}"
