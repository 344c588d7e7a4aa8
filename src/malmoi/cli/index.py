"""`malmoi index SOURCE --model M --out I`: texts to search, brought up to date."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.answer import AsJson, print_json
from malmoi.cli.progress import bar
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
    model: Annotated[
        str, Parameter(help="A folder, a name on the hub, a file of vectors, minilm or use.")
    ],
    out: Annotated[Path, Parameter(help="The index: a folder, made or brought up to date.")],
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
    encoding: Annotated[str, Parameter(help="Of the files.")] = "utf-8",
    json: AsJson = False,
) -> None:
    """Index texts; run again, only what is new or has changed is embedded."""
    from malmoi.search.sources import Source  # what reads texts takes a moment to load
    from malmoi.search.updating import update_index

    asked = Source(text=field, id=id, keep=keep, encoding=encoding, whole=whole_files)
    entries = asked.entries(source)
    with bar(f"embedding {source}", "texts") as progress:
        done = update_index(out, load_encoder(model), entries, keep=add, progress=progress)
    if json:
        print_json({"written": str(out), **asdict(done)})
        return
    print(f"{out}: {done.texts:,} texts")
    counts = ("added", "changed", "removed", "unchanged")
    print(", ".join(f"{getattr(done, name):,} {name}" for name in counts))
