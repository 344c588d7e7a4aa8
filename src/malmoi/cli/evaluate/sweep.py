"""`malmoi sweep M`: every layer and pooling of an encoder, as a table and a heat map."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.evaluate.app import ColumnsOption
from malmoi.cli.evaluate.sentences import names_of
from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.encode.loading import load_contextual
from malmoi.encode.pipeline.contextual_encoder import ContextualEncoder
from malmoi.encode.pooling.recipes import Recipe
from malmoi.errors import InvalidArgumentError
from malmoi.evaluate.sets.locate_sets import find_sentence_sets
from malmoi.evaluate.sweep import POOLINGS, Sweep, sweep_recipes
from malmoi.plots.heat_map import heat_map
from malmoi.plots.svg import check_svg, write_svg

LABEL_WIDTH, CELL_WIDTH = 14, 8  # columns


def sweep_command(
    model: Annotated[str, Parameter(help="A model folder, a name on the Hub, or minilm.")],
    /,
    *,
    file: Annotated[
        list[str] | None,
        Parameter(negative="", help="Pairs of texts with a score: csv, tsv, jsonl. Repeatable."),
    ] = None,
    columns: ColumnsOption = None,
    plot: Annotated[Path | None, Parameter(help="Write a heat map: heat.svg.")] = None,
    json: AsJson = False,
) -> None:
    """Spearman's correlation with human judgements for each layer and pooling."""
    sets = find_sentence_sets(file, names_of(columns))
    if plot is not None:
        check_svg(plot)
        if len(sets) > 1:
            raise InvalidArgumentError(
                f"a heat map shows one test set, but there are {len(sets)}: choose one with --file"
            )
    encoder, sweeps = load_contextual(model), []
    for one in sets:
        with TerminalReporter() as reporter:
            sweeps.append(sweep_recipes(encoder, one, reporter=reporter))
    if json:
        print_json([as_record(model, one) for one in sweeps])
    else:
        for i, table in enumerate(sweeps):
            if i > 0:
                print()
            print_sweep(encoder, table)
    if plot is not None:
        write_svg(plot, plot_sweep(model, sweeps[0]))


def print_sweep(encoder: ContextualEncoder, sweep: Sweep) -> None:
    """Print one line per row; then the options of the best recipe and its interval."""
    print(f"{Path(encoder.name).name} on {sweep.name}: Spearman, {sweep.best_score.total:,} pairs")
    half = CELL_WIDTH * sum(special for _, special in POOLINGS)
    (empty,) = encoder.tokenizer([""])
    special = f"with {' and '.join(empty.tokens)}"  # such as [CLS] and [SEP]
    print(f"{'':{LABEL_WIDTH}}{special:^{half}}{'without':^{half}}".rstrip())
    print(
        f"{'layer':{LABEL_WIDTH}}"
        + "".join(f"{pool:>{CELL_WIDTH - 1}} " for pool, _ in POOLINGS).rstrip()
    )
    for i, row in enumerate(sweep.values):
        cells = [_cell(value, (i, j) == sweep.best) for j, value in enumerate(row)]
        print(f"{row_name(sweep.recipes[i][0]):{LABEL_WIDTH}}{''.join(cells)}".rstrip())
    options = embed_options(sweep.best_recipe, encoder.pools_special_tokens)
    print(f"* best: {options}   {sweep.best_score.interval}")


def row_name(recipe: Recipe) -> str:
    """The layers, and how they are pooled if there are several."""
    return (
        str(recipe.layers)
        if recipe.layer_pooling == "single"
        else f"{recipe.layers} {recipe.layer_pooling}"
    )


def embed_options(recipe: Recipe, pools_special_tokens: bool) -> str:
    """The options of `malmoi embed` that give these vectors, for a model that pools so."""
    pooling = recipe.layer_pooling
    layer_pooling = "" if pooling == "single" else f" --layer-pooling {pooling}"
    special = ""
    if recipe.include_special_tokens != pools_special_tokens and recipe.pool != "cls":
        special = " --include-special" if recipe.include_special_tokens else " --skip-special"
    return f"--layers {recipe.layers}{layer_pooling} --pool {recipe.pool}{special}"


def plot_sweep(model: str, sweep: Sweep) -> str:
    """The table as a heat map."""
    rows = [row_name(row[0]) for row in sweep.recipes]
    heads = [pool if special else f"{pool}\nno special" for pool, special in POOLINGS]
    title = f"{Path(model).name} on {sweep.name}: Spearman by layer and pooling"
    return heat_map(sweep.values, rows, heads, title=title, best=sweep.best)


def as_record(model: str, sweep: Sweep) -> dict[str, Any]:
    """All results, for JSON."""
    cells = [
        _recipe_record(recipe) | {"spearman": value}
        for recipes, values in zip(sweep.recipes, sweep.values, strict=True)
        for recipe, value in zip(recipes, values, strict=True)
    ]
    score = sweep.best_score
    best = {"spearman": score.value, "low": score.low, "high": score.high}
    return {
        "model": model,
        "test": sweep.name,
        "pairs": score.total,
        "best": _recipe_record(sweep.best_recipe) | best,
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
    return f"{number:>{CELL_WIDTH - 1}}{'*' if is_best else ' '}"
