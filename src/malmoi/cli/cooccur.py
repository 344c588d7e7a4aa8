"""`malmoi cooccur CORPUS --words ice,steam --contexts solid,gas`: P(k|i) and their ratios.

`--out PATH` saves the counts, for training.
"""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import (
    CorpusArgument,
    On,
    TextOptions,
    check_target,
    print_written,
)
from malmoi.errors import InvalidArgumentError
from malmoi.models.cooccurrences import save_cooccurrences
from malmoi.scale.counting import count_cooccurrences
from malmoi.train.counts.cooccurrence import Cooccurrence
from malmoi.train.counts.pmi import ProbabilityTable, probability_table

DEFAULT, COUNTING = TextOptions(), Cooccurrence()


def cooccur_command(
    corpus: CorpusArgument,
    /,
    *,
    words: Annotated[str | None, Parameter(help="Two or more words, such as ice,steam.")] = None,
    contexts: Annotated[
        str | None, Parameter(help="Their contexts, such as solid,gas,water.")
    ] = None,
    out: Annotated[Path | None, Parameter(help="Save all counts to this file.")] = None,
    counting: Annotated[Cooccurrence, Parameter(name="*")] = COUNTING,
    options: TextOptions = DEFAULT,
    on: On = "local",
    json: AsJson = False,
) -> None:
    """Print the probability of each context given each word, and the ratios of the first word."""
    if out is None and (words is None or contexts is None):
        raise InvalidArgumentError(
            "nothing to do: give --words and --contexts, or a file with --out"
        )
    if (words is None) != (contexts is None):
        raise InvalidArgumentError("--words and --contexts go together: give both, or neither")
    if out is not None:
        check_target(corpus, out)
    text, tokenizer = options.corpus(corpus), options.make_tokenizer()
    with TerminalReporter() as reporter:
        counts = count_cooccurrences(text, counting, tokenizer=tokenizer, on=on, reporter=reporter)
    if words is not None and contexts is not None:
        print_table(probability_table(counts, words.split(","), contexts.split(",")), json)
    if out is not None:
        save_cooccurrences(counts, out)
        if words is None:
            print_written(out, {"words": len(counts.vocabulary), "pairs": len(counts)}, json)


def print_table(table: ProbabilityTable, json: bool) -> None:
    """Print one row per word and one per ratio."""
    if json:
        print_json(
            {name: dict(zip(table.contexts, row, strict=True)) for name, row in table.rows()}
        )
        return
    width = max(len(name) for name, _ in table.rows()) + 2
    print(" " * width + "".join(f"{context:>12}" for context in table.contexts))
    for name, row in table.rows():
        print(f"{name:<{width}}" + "".join(f"{value:>12.3g}" for value in row))
