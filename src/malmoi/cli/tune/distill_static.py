"""`malmoi tune distill TEXTS --static --teacher T --out FOLDER`: an encoder without a network."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.resume import Resume, resumable
from malmoi.cli.shared.target import is_finished
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import Settings
from malmoi.cli.shared.text_width import wrapped
from malmoi.tune.static.distill import distill_static
from malmoi.tune.static.result import StaticResult
from malmoi.tune.static.settings import StaticSettings

DEFAULT = StaticSettings()


def distill_static_command(
    texts: Annotated[
        Path, Parameter(help="Short texts, one per line: a file, a folder, or - for input.")
    ],
    /,
    *,
    teacher: Annotated[
        str, Parameter(help="The encoder to imitate: a folder, use, minilm.")
    ] = "use",
    out: Annotated[Path, Parameter(help="The folder to write.")],
    dev: Annotated[
        Path | None, Parameter(help="Pairs with scores, to compare with the teacher.")
    ] = None,
    resume: Resume = False,
    settings: Annotated[StaticSettings, Settings] = DEFAULT,
    json: AsJson = False,
) -> None:
    """Distill an encoder into token vectors: much faster, without a network.

    The folder loads in malmoi, model2vec and sentence-transformers.
    """
    if is_finished(out, resume=resume, json=json):
        return
    with resumable(out), TerminalReporter() as reporter:
        result = distill_static(
            texts, teacher, out, settings, dev=dev, resume=resume, reporter=reporter
        )
    if json:
        print_json(as_record(result))
    else:
        print_result(result)


def print_result(result: StaticResult) -> None:
    """Print what was written and how well it fits."""
    table = f"{result.tokens:,} tokens × {result.dim}"
    print(wrapped(f"{result.folder}: {table}, {result.texts:,} texts in {result.seconds:.0f} s"))
    if result.stopped:
        print(wrapped(f"stopped: {result.stopped}"))
    cosines = " ".join(f"{fit.cosine:.3f}" for fit in result.fits)
    print(wrapped(f"cosine after each epoch: {cosines}"))
    print(wrapped(result.sentence))


def as_record(result: StaticResult) -> dict[str, Any]:
    """The result for JSON."""
    record: dict[str, Any] = {
        "written": str(result.folder),
        "teacher": result.teacher,
        "texts": result.texts,
        "tokens": result.tokens,
        "dim": result.dim,
        "seconds": round(result.seconds, 1),
        "stopped": result.stopped,
        "held_out": [
            {"epoch": fit.epoch, "cosine": fit.cosine, "r2": fit.r2} for fit in result.fits
        ],
    }
    if result.dev is not None:
        student, teacher = result.dev
        record["dev"] = {"student": student.value, "teacher": teacher.value}
    return record
