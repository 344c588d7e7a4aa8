"""`malmoi mine PAIRS --out triplets.jsonl`: hard negatives for pairs of queries and answers."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from malmoi.cli.shared.default_model import model_for
from malmoi.cli.shared.output import AsJson, Flag, print_json
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_options import Settings, split_columns
from malmoi.cli.shared.text_width import wrapped
from malmoi.cli.translation.language import translate
from malmoi.encode.loading import load_encoder
from malmoi.errors import InvalidArgumentError
from malmoi.reporting.reporter import SilentReporter
from malmoi.search.build import open_index
from malmoi.search.entries import RecordSource
from malmoi.search.storage.address import path_or_url
from malmoi.tune.data.tables import read_table
from malmoi.tune.mining.mine import MinedNegatives, mine_negatives
from malmoi.tune.mining.output import check_triplets, write_triplets
from malmoi.tune.mining.settings import MiningSettings

DEFAULT = MiningSettings()
MAX_TRIPLETS = 3  # triplets


def mine_command(
    pairs: Annotated[Path, Parameter(help="A table of queries and their answers.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="The file to write: .jsonl, .csv or .tsv.")],
    index: Annotated[str | None, Parameter(help="Search this index (malmoi index).")] = None,
    corpus: Annotated[
        Path | None, Parameter(help="Search these texts too; without them, the answers alone.")
    ] = None,
    field: Annotated[
        tuple[str, ...],
        Parameter(negative="", consume_multiple=False, help="Field of the corpus with the text."),
    ] = (),
    model: Annotated[
        str | None,
        Parameter(help="The encoder (default: by the language, or that of the index)."),
    ] = None,
    judge: Annotated[
        str | None, Parameter(help="A second encoder that must agree with the margins.")
    ] = None,
    settings: Annotated[MiningSettings, Settings] = DEFAULT,
    with_scores: Annotated[bool, Flag, Parameter(help="Write the scores too.")] = False,
    with_margins: Annotated[
        bool, Flag, Parameter(help="Write their difference as label, for margin_mse.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Mine hard negatives: texts near a query that are not its answers, as triplets."""
    check_triplets(out)
    if index is not None and corpus is not None:
        raise InvalidArgumentError("--index and --corpus exclude each other: pass one of them")
    own = model or (model_for(_texts_of(pairs)) if index is None else None)
    encoder = load_encoder(own) if own else None
    columns = split_columns(settings.columns)
    with TerminalReporter() as reporter:
        texts = [] if corpus is None else RecordSource(text=field).entries(corpus)
        mined = mine_negatives(
            pairs,
            [one.text for one in texts]
            if index is None
            else open_index(path_or_url(index), encoder),
            encoder if index is None else None,
            replace(settings, columns=columns),
            judge=judge,
            reporter=reporter,
        )
    write_triplets(mined, out, scores=with_scores, margins=with_margins)
    if json:
        print_json(as_record(mined, out))
    else:
        print_mined(mined, out)


def _texts_of(pairs: Path) -> Iterator[str]:
    """The queries and answers, to choose the default model."""
    rows = read_table(pairs, SilentReporter()).rows
    return (field for _, fields in rows for field in fields if isinstance(field, str))


def print_mined(mined: MinedNegatives, out: Path) -> None:
    """Print how many triplets were written, some of them, and why candidates were skipped."""
    print(wrapped(translate(f"{out}: {len(mined):,} triplets of {mined.pairs:,} pairs")))
    if mined.incomplete:
        few = f"{mined.incomplete:,} pairs have fewer negatives than wanted"
        print(wrapped(translate(few)))
    for one in mined.triplets[:MAX_TRIPLETS]:
        print(wrapped(f"query {_short(one.anchor)}", 2))
        for score, name in ((one.positive_score, "positive"), (one.negative_score, "negative")):
            print(wrapped(f"{score:.3f} {name} {_short(getattr(one, name))}", 4))
    for reason, count in mined.skipped.items():
        query, text = mined.examples[reason]
        print(wrapped(f"{count:,} candidates skipped: {reason}, such as {text} for {query}"))


def as_record(mined: MinedNegatives, out: Path) -> dict[str, Any]:
    """The result for JSON."""
    skipped = [
        {"reason": reason, "candidates": count, "query": example[0], "text": example[1]}
        for (reason, count), example in zip(
            mined.skipped.items(), mined.examples.values(), strict=True
        )
    ]
    return {
        "written": str(out),
        "pairs": mined.pairs,
        "triplets": len(mined),
        "incomplete": mined.incomplete,
        "skipped": skipped,
    }


def _short(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"
