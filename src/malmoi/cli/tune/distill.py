"""`malmoi tune distill PARALLEL… --teacher T --model S --out FOLDER`: another language."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.resume import Resume, resumable
from malmoi.cli.shared.target import is_finished
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import Settings, split_columns
from malmoi.cli.shared.text_width import wrapped
from malmoi.tune.distill.distilling import distill
from malmoi.tune.distill.parallel import DistillData
from malmoi.tune.distill.result import DistillResult
from malmoi.tune.distill.settings import DistillSettings

DEFAULT = DistillSettings()


def tune_distill_command(
    *data: Annotated[
        Path,
        Parameter(help="Tables of source texts and their translations.", required=True),
    ],
    model: Annotated[str, Parameter(help="The student: a model folder.")],
    out: Annotated[Path, Parameter(help="The folder to write.")],
    texts: Annotated[
        Path | None, Parameter(help="Texts of the target language (with --bridge).")
    ] = None,
    source_texts: Annotated[
        Path | None, Parameter(help="Texts whose vectors the student keeps.")
    ] = None,
    translations: Annotated[Path | None, Parameter(help="Pairs to hold out and measure.")] = None,
    dev: Annotated[
        tuple[Path, ...],
        Parameter(help="Pairs with scores, in either language.", negative_iterable=()),
    ] = (),
    resume: Resume = False,
    settings: Annotated[DistillSettings, Settings] = DEFAULT,
    json: AsJson = False,
) -> None:
    """Distill a teacher into a student of another language, by translations.

    A translation gets the vector that the teacher gives to its source text. A run whose student
    collapses is stopped, with the reason; --force continues it. With --static, any encoder is
    distilled into token vectors: see malmoi tune distill --static --help.
    """
    if is_finished(out, resume=resume, json=json):
        return
    columns = split_columns(settings.columns)
    given = DistillData(
        parallel=list(data),
        texts=texts or (),
        source_texts=source_texts or (),
        translations=translations,
    )
    with resumable(out), TerminalReporter() as reporter:
        result = distill(
            given,
            model,
            out,
            replace(settings, columns=columns),
            dev=dev,
            resume=resume,
            reporter=reporter,
        )
    if json:
        print_json(result.record())
    else:
        print_result(result)


def print_result(result: DistillResult) -> None:
    """Print what was written and the verdicts."""
    facts = f"{result.steps:,} steps, {result.texts:,} texts in {result.seconds:.0f} s"
    print(wrapped(f"{result.folder}: {facts}"))
    if result.stopped:
        print(wrapped(f"stopped: {result.stopped}"))
    print(
        wrapped(
            f"held-out R² {result.history[0][1]:.3f} → {result.r2:.3f}; the folder has step"
            f" {result.best_step:,}"
        )
    )
    for sentence in result.sentences():
        print(wrapped(sentence))
