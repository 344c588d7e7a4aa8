"""`malmoi convert IN OUT`: one format to another, nothing lost that both can hold."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.answer import AsJson, Limit, Model, print_json
from malmoi.cli.progress import bar
from malmoi.formats import load, save
from malmoi.formats.numpy_pair import read_words
from malmoi.formats.rewriting import composed, normalised


def convert_command(
    source: Model,
    target: Annotated[Path, Parameter(help="The file to write; its ending names the format.")],
    /,
    *,
    format: Annotated[str | None, Parameter(help="The format, if the ending does not say.")] = None,
    limit: Limit = None,
    only: Annotated[Path | None, Parameter(help="A file of words to keep, one a line.")] = None,
    normalize: Annotated[bool, Parameter(negative="", help="Make every vector one long.")] = False,
    nfc: Annotated[bool, Parameter(negative="", help="Compose keys such as NFD Hangul.")] = False,
    skip_bad_rows: Annotated[
        bool, Parameter(negative="", help="Leave out rows that do not fit.")
    ] = False,
    encoding: Annotated[str, Parameter(help="Of the words in the file.")] = "utf-8",
    json: AsJson = False,
) -> None:
    """Read vectors in any format and write them in another."""
    with bar(f"reading {source}") as progress:
        vectors = load(
            source,
            limit=limit,
            only=None if only is None else _words(only),
            strict=not skip_bad_rows,
            encoding=encoding,
            progress=progress,
        )
    if nfc:
        vectors = composed(vectors)
    if normalize:
        vectors = normalised(vectors)
    with bar(f"writing {target}") as progress:
        save(vectors, target, format=format, progress=progress)
    if json:
        print_json({"written": str(target), "rows": len(vectors), "dim": vectors.dim})
    else:
        print(f"{target}: {len(vectors):,} × {vectors.dim}")


def _words(path: Path) -> list[str]:
    return [line.decode("utf-8", "surrogateescape") for line in read_words(path)]
