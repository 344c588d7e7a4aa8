"""`malmoi tune sentence DATA --model M --out FOLDER`: a sentence encoder on your own pairs."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.resume import Resume, resumable
from malmoi.cli.shared.target import is_finished
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import Settings, split_columns
from malmoi.cli.shared.text_width import wrapped
from malmoi.tune.result import TuneResult
from malmoi.tune.sentence.settings import TuneSettings
from malmoi.tune.sentence.tuning import tune_sentence

DEFAULT = TuneSettings()
MAX_SCORES = 6  # printed


def tune_sentence_command(
    *data: Annotated[
        Path,
        Parameter(help="Tables of texts, scores: CSV, TSV, JSONL, Parquet.", required=True),
    ],
    model: Annotated[str, Parameter(help="A model folder, or minilm.")] = "minilm",
    out: Annotated[Path, Parameter(help="The folder to write.")],
    dev: Annotated[
        Path | None, Parameter(help="Pairs with scores, to choose the best state.")
    ] = None,
    resume: Resume = False,
    settings: Annotated[TuneSettings, Settings] = DEFAULT,
    json: AsJson = False,
) -> None:
    """Tune a sentence encoder: pairs with scores, classes, triplets, or plain pairs.

    The columns of the texts and the label are detected; --columns A,B,SCORE names them. With
    --dev, the scores of the untuned and the tuned model are compared.
    """
    if is_finished(out, resume=resume, json=json):
        return
    columns = split_columns(settings.columns)
    with resumable(out), TerminalReporter() as reporter:
        result = tune_sentence(
            list(data),
            model,
            out,
            replace(settings, columns=columns),
            dev=dev,
            resume=resume,
            reporter=reporter,
        )
    if json:
        print_json(as_record(result))
    else:
        print_result(result)


def print_result(result: TuneResult) -> None:
    """Print what was written and the verdict."""
    facts = f"{result.steps:,} steps, {result.examples:,} examples in {result.seconds:.0f} s"
    print(wrapped(f"{result.folder}: {facts}"))
    if result.stopped:
        print(wrapped(f"stopped: {result.stopped}"))
    if result.history:
        shown = result.history[:1] + result.history[1:][-MAX_SCORES:]
        scores = " ".join(f"{100 * score:.2f}" for _, score in shown)
        print(wrapped(f"dev scores: {scores}; the folder has step {result.best_step:,}"))
    print(wrapped(result.sentence))


def as_record(result: TuneResult) -> dict[str, Any]:
    """The result for JSON."""
    record: dict[str, Any] = {
        "written": str(result.folder),
        "data": list(result.data),
        "steps": result.steps,
        "best_step": result.best_step,
        "examples": result.examples,
        "seconds": round(result.seconds, 1),
        "stopped": result.stopped,
        "dev": [{"step": step, result.metric.lower(): score} for step, score in result.history],
    }
    if result.difference is not None:
        record["difference"] = {
            "value": result.difference.value,
            "low": result.difference.low,
            "high": result.difference.high,
            "verdict": result.difference.verdict,
        }
    return record
