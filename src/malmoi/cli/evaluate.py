"""`malmoi evaluate M…`: every test that fits each model, one table."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.cells import cell_len, set_cell_size

from malmoi.cli.answer import AsJson, Limit, open_model, print_json
from malmoi.cli.progress import bar
from malmoi.evaluate.analogies import AnalogyScore
from malmoi.evaluate.finding import find_sets
from malmoi.evaluate.scores import Score
from malmoi.evaluate.words import WordScores, evaluate_words
from malmoi.query.analogy import Method

ABREAST = 3  # models in one table of 80 columns
METHODS = {"add": "3CosAdd", "multiply": "3CosMul"}


def evaluate_command(
    *models: Annotated[str, Parameter(help="Files of vectors, or glove-6b-50d.", required=True)],
    file: Annotated[
        list[str] | None,
        Parameter(negative="", help="A test: 'word word score' lines, or analogies. Repeatable."),
    ] = None,
    typos: Annotated[bool, Parameter(negative="", help="Also with a typo in each word.")] = False,
    sections: Annotated[bool, Parameter(negative="", help="Show each kind of analogy.")] = False,
    method: Annotated[Method, Parameter(help="How analogies are answered.")] = "add",
    restrict: Annotated[
        int | None,
        Parameter(
            name=["--restrict", "--most-frequent"],
            help="Only so many of the most frequent words; analogies: 300,000 if not given.",
        ),
    ] = None,
    fold_case: Annotated[bool, Parameter(help="Take Tiger for tiger.")] = True,
    limit: Limit = None,
    json: AsJson = False,
) -> None:
    """Word similarity, analogies, typos: how good vectors are, with n and 95 % intervals."""
    sets = find_sets(file)
    scores = []
    for model in models:
        vectors = open_model(model, limit)
        with bar(f"testing {model}") as progress:
            found = evaluate_words(
                vectors,
                sets,
                typos=typos,
                method=method,
                most_frequent=restrict,
                fold_case=fold_case,
                progress=progress,
            )
        scores.append(found)
    if json:
        print_json([as_record(model, one) for model, one in zip(models, scores, strict=True)])
        return
    titles = [Path(model).name for model in models]
    rows = [rows_of(one, sections) for one in scores]
    if len(models) == 1:
        print_one(titles[0], rows[0])
        return
    for first in range(0, len(models), ABREAST):
        print_several(titles[first : first + ABREAST], rows[first : first + ABREAST])


@dataclass(frozen=True)
class Row:
    """A line of the table: a heading, or a test with its score and what it rests on."""

    label: str
    score: Score | None = None
    rests_on: str = ""


def rows_of(found: WordScores, sections: bool) -> list[Row]:
    """What is shown of a model, in the order of the tests."""
    rows = [Row("word similarity, Spearman")] if found.similarity else []
    for one in found.similarity:
        built = f", {one.from_ngrams:,} by n-grams" if one.from_ngrams else ""
        rows.append(Row(f"  {one.name}", one.spearman, _answered(one.spearman) + built))
    rows += [Row("the same with typos, share kept")] if found.typos else []
    for typed in found.typos:
        words = f"{typed.typos - typed.unanswered:,}/{typed.typos:,} words"
        rows.append(Row(f"  {typed.name}", typed.kept, words))
    for i, score in enumerate(found.analogies):
        rows += [Row(f"analogies, accuracy by {METHODS[score.method]}")] if i == 0 else []
        parts = [(f"  {score.name}", score.total)]
        parts += [("    semantic", score.semantic), ("    syntactic", score.syntactic)]
        if sections:
            parts += [(f"    {part.name}", part.accuracy) for part in score.sections]
        rows += [Row(label, part, _answered(part)) for label, part in parts]
    return rows


def print_one(title: str, rows: Sequence[Row]) -> None:
    """A model: score, interval, how many were answered."""
    print(f"{_fitted(title, 31)} score         95 %        answered")
    for row in rows:
        if row.score is None:
            print(row.label)
        else:
            reach = f"{_figure(row.score):>6}  {_interval(row.score):^15}  {row.rests_on}"
            print(_fitted(row.label, 30), reach)


def print_several(titles: Sequence[str], models: Sequence[Sequence[Row]]) -> None:
    """Models side by side: score, half its interval, the share answered."""
    heads = "".join(f"  {_fitted(title, 18)}" for title in titles)
    print(f"{_fitted('', 20)}{heads.rstrip()}")
    for rows in zip(*models, strict=True):
        cells = [_cell(row.score) for row in rows if row.score is not None]
        label = _fitted(rows[0].label, 20) if cells else rows[0].label
        print(label + "".join(f"  {cell}" for cell in cells))


def as_record(model: str, found: WordScores) -> dict[str, Any]:
    """Everything, for JSON."""
    return {
        "model": model,
        "similarity": [asdict(one) for one in found.similarity],
        "typos": [asdict(one) for one in found.typos],
        "analogies": [_analogy_record(one) for one in found.analogies],
    }


def _analogy_record(score: AnalogyScore) -> dict[str, Any]:
    kinds = {"total": score.total, "semantic": score.semantic, "syntactic": score.syntactic}
    return asdict(score) | {kind: asdict(one) for kind, one in kinds.items()}


def _answered(score: Score) -> str:
    return f"{score.answered:,}/{score.total:,}"


def _figure(score: Score) -> str:
    return f"{score.value:.3f}" if score.fits else "—"


def _interval(score: Score) -> str:
    if not score.fits or score.low is None or score.high is None:
        return ""
    return f"{score.low:.3f} … {score.high:.3f}"


def _cell(score: Score) -> str:
    """18 columns."""
    reach = ""
    if score.fits and score.low is not None and score.high is not None:
        reach = f"±{(score.high - score.low) / 2:.3f}"
    return f"{_figure(score):>6} {reach:>6} {1 - score.unanswered:>4.0%}"


def _fitted(label: str, width: int) -> str:
    """Cut or filled to so many columns; a Korean letter takes two."""
    if cell_len(label) > width:
        label = set_cell_size(label, width - 1) + "…"
    return set_cell_size(label, width)
