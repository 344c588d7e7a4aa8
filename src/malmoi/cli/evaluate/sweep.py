"""`malmoi sweep M`: every layer and pooling of an encoder, as a table and a heat map."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.evaluate.app import ColumnsOption
from malmoi.cli.evaluate.sentences import names_of
from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.score_table import interval
from malmoi.encode.encoder import load_transformer
from malmoi.encode.pooling.recipes import Recipe
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.sets.locate_sets import find_sentence_sets
from malmoi.evaluate.sweep import POOLINGS, Sweep, sweep_recipes
from malmoi.plots.heat_map import heat_map
from malmoi.plots.svg import check_svg, write_svg
from malmoi.reporting.progress_bar import ProgressReporter

LABEL, CELL = 14, 8  # columns


def sweep_command(
    model: Annotated[str, Parameter(help="A model's folder, a name on the hub, or minilm.")],
    *,
    file: Annotated[
        list[str] | None,
        Parameter(negative="", help="Pairs of texts with a score: csv, tsv, jsonl. Repeatable."),
    ] = None,
    columns: ColumnsOption = None,
    plot: Annotated[Path | None, Parameter(help="A heat map to draw: heat.svg.")] = None,
    json: AsJson = False,
) -> None:
    """Spearman on pairs that people judged, for each layer and pooling, computed in one go."""
    sets = find_sentence_sets(file, names_of(columns))
    if plot is not None:
        check_svg(plot)
        if len(sets) > 1:
            raise InvalidArgumentError(
                f"a heat map is of one test, and there are {len(sets)}: give a --file"
            )
    encoder, found = load_transformer(model), []
    for one in sets:
        with ProgressReporter() as reporter:
            found.append(sweep_recipes(encoder, one, reporter=reporter))
    if json:
        print_json([as_record(model, one) for one in found])
    else:
        for i, table in enumerate(found):
            if i > 0:
                print()
            print_sweep(model, table)
    if plot is not None:
        write_svg(plot, drawn(model, found[0]))


def print_sweep(model: str, found: Sweep) -> None:
    """A line a layer or mixture; the best with its interval, and how to ask for it."""
    print(f"{Path(model).name} on {found.name}: Spearman, {found.best_score.total:,} pairs")
    half = CELL * sum(special for _, special in POOLINGS)
    print(f"{'':{LABEL}}{'with [CLS] and [SEP]':^{half}}{'without':^{half}}".rstrip())
    print(f"{'layer':{LABEL}}" + "".join(f"{pool:>{CELL - 1}} " for pool, _ in POOLINGS).rstrip())
    for i, row in enumerate(found.values):
        cells = [_cell(value, (i, j) == found.best) for j, value in enumerate(row)]
        print(f"{row_name(found.recipes[i][0]):{LABEL}}{''.join(cells)}".rstrip())
    print(f"* best: {asked_for(found.best_recipe)}   {interval(found.best_score)}")


def row_name(recipe: Recipe) -> str:
    """A layer by its number, a mixture as it is asked for."""
    return (
        str(recipe.layers)
        if recipe.layer_pooling == "single"
        else f"{recipe.layers} {recipe.layer_pooling}"
    )


def asked_for(recipe: Recipe) -> str:
    """The options of `malmoi embed` that give these vectors."""
    pooling = recipe.layer_pooling
    mix = "" if pooling == "single" else f" --layer-pooling {pooling}"
    special = "" if recipe.include_special_tokens else " --skip-special"
    return f"--layers {recipe.layers}{mix} --pool {recipe.pool}{special}"


def drawn(model: str, found: Sweep) -> str:
    """The table as a heat map."""
    rows = [row_name(row[0]) for row in found.recipes]
    heads = [pool if special else f"{pool}\nno special" for pool, special in POOLINGS]
    title = f"{Path(model).name} on {found.name}: Spearman by layer and pooling"
    return heat_map(found.values, rows, heads, title=title, best=found.best)


def as_record(model: str, found: Sweep) -> dict[str, Any]:
    """Everything, for JSON."""
    cells = [
        _recipe_record(recipe) | {"spearman": value}
        for recipes, values in zip(found.recipes, found.values, strict=True)
        for recipe, value in zip(recipes, values, strict=True)
    ]
    score = found.best_score
    best = {"spearman": score.value, "low": score.low, "high": score.high}
    return {
        "model": model,
        "test": found.name,
        "pairs": score.total,
        "best": _recipe_record(found.best_recipe) | best,
        "cells": cells,
    }


def _recipe_record(recipe: Recipe) -> dict[str, Any]:
    return {
        "layers": recipe.layers,
        "layer_pooling": recipe.layer_pooling,
        "pool": recipe.pool,
        "include_special_tokens": recipe.include_special_tokens,
    }


def _cell(value: float | None, is_best: bool) -> str:
    number = "—" if value is None else f"{value:.3f}"
    return f"{number:>{CELL - 1}}{'*' if is_best else ' '}"
