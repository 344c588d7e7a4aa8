"""`malmoi tune adapt CORPUS --model M --out FOLDER`: an encoder adapted to your own raw text."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.resume import Resume, resumable
from malmoi.cli.shared.target import is_finished
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import Settings
from malmoi.cli.shared.text_width import wrapped
from malmoi.cli.tune.sentence import as_record, print_result
from malmoi.evaluate.scores import Score
from malmoi.tune.adapt.adapting import adapt
from malmoi.tune.adapt.result import AdaptResult
from malmoi.tune.adapt.settings import AdaptSettings

DEFAULT = AdaptSettings()


def adapt_command(
    corpus: Annotated[
        str,
        Parameter(
            help="Documents: text (one per line), JSONL, CSV, a BEIR folder, or -.",
            allow_leading_hyphen=True,
        ),
    ],
    /,
    *,
    model: Annotated[str, Parameter(help="A model folder, or minilm.")] = "minilm",
    out: Annotated[Path, Parameter(help="The folder to write.")],
    dev: Annotated[Path | None, Parameter(help="A BEIR folder, or pairs with scores.")] = None,
    resume: Resume = False,
    settings: Annotated[AdaptSettings, Settings] = DEFAULT,
    json: AsJson = False,
) -> None:
    """Adapt an encoder to the raw text of a domain, without any labels.

    Prints the perplexity of held-out text (mlm, tsdae) and, with --dev, the dev score, before and
    after.
    """
    if is_finished(out, resume=resume, json=json):
        return
    with resumable(out), TerminalReporter() as reporter:
        result = adapt(corpus, model, out, settings, dev=dev, resume=resume, reporter=reporter)
    if json:
        print_json(adapted_record(result))
    else:
        print_result(result)
        for note in result.notes:
            print(wrapped(note))


def adapted_record(result: AdaptResult) -> dict[str, Any]:
    """The result for JSON."""
    scores = {"before": result.perplexity_before, "after": result.perplexity_after}
    values = {name: _as_json(score) for name, score in scores.items() if score is not None}
    return as_record(result) | ({"perplexity": values} if values else {})


def _as_json(score: Score) -> dict[str, Any]:
    return {"value": score.value, "low": score.low, "high": score.high, "passages": score.total}
