"""`malmoi tune layers DATA --model M`: what each layer is worth for your labelled texts."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import Settings, split_columns
from malmoi.cli.shared.text_width import wrapped
from malmoi.encode.loading import load_contextual
from malmoi.evaluate.scores import Score
from malmoi.tune.layers.learning import learn_layer_weights
from malmoi.tune.layers.result import LayerResult
from malmoi.tune.layers.settings import LayerSettings

DEFAULT = LayerSettings()


def tune_layers_command(
    data: Annotated[
        Path, Parameter(help="A table of texts and classes: CSV, TSV, JSONL, Parquet.")
    ],
    *,
    model: Annotated[str, Parameter(help="A model folder, or minilm.")] = "minilm",
    out: Annotated[
        Path | None, Parameter(help="A folder for the recipe, which any --model takes.")
    ] = None,
    settings: Annotated[LayerSettings, Settings] = DEFAULT,
    json: AsJson = False,
) -> None:
    """Learn the weight of each layer (ELMo's s and γ) for texts with classes.

    Prints how well each layer classifies the test texts alone, and all of them together, by
    logistic regression. The columns are detected; --columns TEXT,CLASS names them.
    """
    settings = replace(settings, columns=split_columns(settings.columns))
    encoder = load_contextual(model)
    with TerminalReporter() as reporter:
        result = learn_layer_weights(encoder, data, settings, out=out, reporter=reporter)
    if json:
        print_json(as_record(result))
        return
    print(result)
    weights = " ".join(f"{weight:g}" for weight in result.recipe.weights)
    print(wrapped(f"weights before the softmax: {weights}; scale {result.recipe.scale:.4g}"))
    if out is not None:
        print(wrapped(f"{out}: pass it as --model to embed, index, evaluate or serve"))


def as_record(result: LayerResult) -> dict[str, Any]:
    """The result for JSON."""
    each = [
        {"layer": i, "share": share, **_score(score)}
        for i, (share, score) in enumerate(zip(result.shares, result.layers, strict=True))
    ]
    return {
        "model": result.model,
        "data": result.name,
        "classes": list(result.classes),
        "train_texts": result.train_texts,
        "test_texts": result.test_texts,
        "repeats": result.repeats,
        "layers": each,
        "mean_of_all": _score(result.average),
        "learned": _score(result.learned),
        "difference": {
            "value": result.difference.value,
            "low": result.difference.low,
            "high": result.difference.high,
            "verdict": result.difference.verdict,
        },
        "weights": list(result.recipe.weights),
        "scale": result.recipe.scale,
        "seconds": round(result.seconds, 1),
    }


def _score(score: Score) -> dict[str, float | None]:
    return {"accuracy": score.value, "low": score.low, "high": score.high}
