"""`malmoi compare DATA --models … --out report.html`: which classifier suits your texts."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.classify.compare.comparing import compare
from malmoi.classify.compare.settings import CompareSettings
from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.resume import let_threads_sleep
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import Settings, split_columns
from malmoi.cli.shared.text_width import wrapped

DEFAULT = CompareSettings()


def compare_command(
    data: Annotated[
        Path,
        Parameter(help="A table of texts and labels, folders of texts, or fastText's lines."),
    ],
    *,
    models: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            consume_multiple=True,
            help="Classifiers, such as ngrams minilm gru ngrams+minilm.",
        ),
    ] = None,
    out: Annotated[Path | None, Parameter(help="A report: .html, .md or .json.")] = None,
    errors: Annotated[
        Path | None, Parameter(help="A .jsonl file of wrong texts, for malmoi project.")
    ] = None,
    settings: Annotated[CompareSettings, Settings] = DEFAULT,
    json: AsJson = False,
) -> None:
    """Train classifiers of several kinds on the same texts, and compare accuracy and cost.

    Kinds: majority, ngrams, words, jamo; mean, flatten, cnn, gru, lstm (networks, extra train);
    fine-tune:model=M; or any encoder. Settings follow after colons, as in gru:units=jamo, and +
    combines several. − marks what is worse than the best beyond noise. Finished runs are kept:
    the same command goes on after an interruption.
    """
    let_threads_sleep()
    settings = replace(settings, columns=split_columns(settings.columns))
    names = None if models is None else [each for one in models for each in one.split(",")]
    with TerminalReporter() as reporter:
        comparison = compare(data, names, settings, out=out, errors=errors, reporter=reporter)
    if json:
        print_json(comparison.to_dict())
        return
    print(comparison)
    if out is not None:
        print(wrapped(f"{out}: {'open it in a browser' if out.suffix == '.html' else 'written'}"))
    if errors is not None:
        print(f"{errors}, as a map:")
        print(f"  malmoi index {errors} --field text --out wrong")
        print("  malmoi project wrong --out wrong.html")
