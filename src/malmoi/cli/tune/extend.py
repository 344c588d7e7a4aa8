"""`malmoi tune extend --model M --vocabulary FILE --out FOLDER`: a model learns new tokens."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import Settings
from malmoi.cli.shared.text_width import wrapped
from malmoi.tune.extend.extension import extend_vocabulary
from malmoi.tune.extend.result import ExtendResult
from malmoi.tune.extend.settings import ExtendSettings

DEFAULT = ExtendSettings()


def tune_extend_command(
    *,
    model: Annotated[str, Parameter(help="A model folder, or minilm.")] = "minilm",
    vocabulary: Annotated[
        tuple[Path, ...], Parameter(help="Files of WordPiece tokens, one per line.", negative="")
    ] = (),
    texts: Annotated[
        tuple[Path, ...], Parameter(help="Text files to learn tokens from.", negative="")
    ] = (),
    out: Annotated[Path, Parameter(help="The folder to write.")],
    dev: Annotated[
        tuple[Path, ...], Parameter(help="Pairs with scores, to compare on.", negative="")
    ] = (),
    settings: Annotated[ExtendSettings, Settings] = DEFAULT,
    json: AsJson = False,
) -> None:
    """Add tokens of another language, such as Korean, to a model that lacks them.

    The row of each new token is a mean of the rows of known tokens, chosen by an encoder that
    reads both languages. Nothing is trained; texts of Latin letters keep their vectors.
    """
    with TerminalReporter() as reporter:
        result = extend_vocabulary(
            model,
            out,
            settings,
            vocabulary=vocabulary,
            texts=list(texts) or None,
            dev=dev,
            reporter=reporter,
        )
    if json:
        print_json(as_record(result))
        return
    for sentence in result.sentences:
        print(wrapped(sentence))
    print(result)


def as_record(result: ExtendResult) -> dict[str, Any]:
    """The result for JSON."""
    coverage = [asdict(one) for one in result.coverage or ()]
    return {
        "written": str(result.folder),
        "model": result.model,
        "through": result.through,
        "added": dict(result.added),
        "skipped": dict(result.skipped),
        "vocab_size": result.vocab_size,
        "coverage": dict(zip(("before", "after"), coverage, strict=False)),
        "dev": [
            {
                "name": one.name,
                "before": one.before.value,
                "after": one.after.value,
                "difference": one.difference and asdict(one.difference),
                "verdict": one.difference and one.difference.verdict,
            }
            for one in result.dev
        ],
        "neighbours": {
            token: [{"token": near, "weight": weight} for near, weight in neighbours]
            for token, neighbours in result.examples.items()
        },
        "seconds": round(result.seconds, 1),
    }
