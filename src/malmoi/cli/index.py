"""`malmoi index SOURCE --out I`: texts to search, brought up to date."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.default_model import model_for, model_of_index
from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.progress import progress_bar
from malmoi.encode.loading import load_encoder

Flag = Parameter(negative="", show_default=False)
Several = Parameter(negative="", consume_multiple=False)


def index_command(
    source: Annotated[
        str,
        Parameter(
            help="A file of text, JSON lines, a table, Parquet, a folder of them, or - for"
            " standard input.",
            allow_leading_hyphen=True,
        ),
    ],
    /,
    *,
    out: Annotated[Path, Parameter(help="The index: a folder, made or brought up to date.")],
    model: Annotated[
        str | None,
        Parameter(
            help="A folder, a name on the hub, a file of vectors, minilm or use; that of the"
            " index, or by the text."
        ),
    ] = None,
    field: Annotated[
        tuple[str, ...], Several, Parameter(help="The field or column of text; several are joined.")
    ] = (),
    id: Annotated[str | None, Parameter(help="The field that tells texts apart.")] = None,
    keep: Annotated[
        tuple[str, ...],
        Several,
        Parameter(help="A field to keep for filters; all, if none is named."),
    ] = (),
    whole_files: Annotated[
        bool, Flag, Parameter(help="A plain file is one text, not its lines.")
    ] = False,
    add: Annotated[bool, Flag, Parameter(help="Leave texts that SOURCE does not have.")] = False,
    passages: Annotated[
        bool | None,
        Parameter(
            help="Split what is longer than the model reads, or else cut it off. A new index does,"
            " one that is there goes on as it was made.",
            show_default=False,
        ),
    ] = None,
    document_prompt: Annotated[
        str | None, Parameter(help="Goes before each text; the model's own, if it names one.")
    ] = None,
    query_prompt: Annotated[
        str | None, Parameter(help="Goes before each query; the model's own, if it names one.")
    ] = None,
    encoding: Annotated[str, Parameter(help="Of the files.")] = "utf-8",
    json: AsJson = False,
) -> None:
    """Index texts; run again, only what is new or has changed is embedded."""
    from malmoi.encode.checkpoint.prompts import given_prompts
    from malmoi.search.sources import RecordSource  # what reads texts takes a moment to load
    from malmoi.search.update import update_index

    asked = RecordSource(text=field, id=id, keep=keep, encoding=encoding, whole=whole_files)
    entries = asked.entries(source)
    with progress_bar(f"embedding {source}", "texts") as progress:
        chosen = model or model_of_index(out) or model_for(entry.text for entry in entries)
        encoder = load_encoder(chosen)
        prompts = given_prompts(encoder, document=document_prompt, query=query_prompt)
        done = update_index(out, encoder, entries, keep=add, passages=passages, prompts=prompts,
                            progress=progress)  # fmt: skip
    if json:
        print_json({"written": str(out), **asdict(done)})
        return
    more = f", {done.passages:,} passages" if done.passages > done.texts else ""
    print(f"{out}: {done.texts:,} texts{more}")
    counts = ("added", "changed", "removed", "unchanged")
    print(", ".join(f"{getattr(done, name):,} {name}" for name in counts))
    print(f"hybrid search: words weigh {done.weight:.2f}")
