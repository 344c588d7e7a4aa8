"""`malmoi index SOURCE --out I`: build a search index, or update it incrementally."""

from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.default_model import model_for, model_of_index
from malmoi.cli.shared.output import AsJson, Flag, print_json
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.translation.language import translate
from malmoi.encode.loading import load_encoder
from malmoi.search.storage.address import path_or_url, shown_path

Several = Parameter(negative="", consume_multiple=False)


def index_command(
    source: Annotated[
        str,
        Parameter(
            help="A text file, JSON lines, a table, Parquet, a folder of them, or - for standard"
            " input.",
            allow_leading_hyphen=True,
        ),
    ],
    /,
    *,
    out: Annotated[
        str,
        Parameter(
            help="The folder of the index, created or updated, or"
            " postgresql://user@host/database?table=NAME."
        ),
    ],
    model: Annotated[
        str | None,
        Parameter(
            help="A model folder, a name on the hub, a file of vectors, minilm or use (default:"
            " that of the index, or by the language of the texts)."
        ),
    ] = None,
    field: Annotated[
        tuple[str, ...], Several, Parameter(help="Field or column of the text; several are joined.")
    ] = (),
    id: Annotated[str | None, Parameter(help="Field of the unique id.")] = None,
    keep: Annotated[
        tuple[str, ...],
        Several,
        Parameter(help="Field to store for filters (default: all)."),
    ] = (),
    whole_files: Annotated[
        bool, Flag, Parameter(help="Treat a text file as one text, not as one text per line.")
    ] = False,
    add: Annotated[bool, Flag, Parameter(help="Keep texts that SOURCE does not contain.")] = False,
    passages: Annotated[
        bool | None,
        Parameter(
            help="Split over-long texts into passages instead of truncating (default for a new"
            " index; an existing index keeps its setting).",
            show_default=False,
        ),
    ] = None,
    document_prompt: Annotated[
        str | None,
        Parameter(help="Text before each document (default: the prompt of the model, if any)."),
    ] = None,
    query_prompt: Annotated[
        str | None,
        Parameter(help="Text before each query (default: the prompt of the model, if any)."),
    ] = None,
    encoding: Annotated[str, Parameter(help="Encoding of the input files.")] = "utf-8",
    json: AsJson = False,
) -> None:
    """Index texts; a second run embeds only texts that are new or have changed."""
    from malmoi.encode.pipeline.prompts import given_prompts
    from malmoi.search.entries import RecordSource  # slow to import
    from malmoi.search.update import update_index

    records = RecordSource(text=field, id=id, keep=keep, encoding=encoding, whole=whole_files)
    entries = records.entries(source)
    with TerminalReporter() as reporter:
        target = path_or_url(out)
        chosen = model or model_of_index(target) or model_for(entry.text for entry in entries)
        encoder = load_encoder(chosen)
        prompts = given_prompts(encoder, document=document_prompt, query=query_prompt)
        update = update_index(target, encoder, entries, keep=add, passages=passages,
                              prompts=prompts, reporter=reporter)  # fmt: skip
    if json:
        print_json({"written": shown_path(out), **asdict(update)})
        return
    more = f", {update.passages:,} passages" if update.passages > update.texts else ""
    print(translate(f"{shown_path(out)}: {update.texts:,} texts{more}"))
    counts = (
        f"{update.added:,} added, {update.changed:,} changed,"
        f" {update.removed:,} removed, {update.unchanged:,} unchanged"
    )
    print(translate(counts))
    print(translate(f"hybrid search: weight of words {update.weight:.2f}"))
