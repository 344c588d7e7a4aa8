"""`malmoi convert IN OUT`: vectors in another format, or a model's weights out of a pickle."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, Limit, print_json
from malmoi.cli.shared.progress import progress_bar
from malmoi.errors import InvalidArgumentError, warn
from malmoi.formats import load, save
from malmoi.formats.numpy_pair import read_words
from malmoi.formats.rewriting import composed, normalised


def convert_command(
    source: Annotated[
        str, Parameter(help="A file of vectors, glove-6b-50d, or a folder with pytorch_model.bin.")
    ],
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
    """Read vectors in any format and write them in another; or a model's folder without pickles."""
    if Path(source).is_dir():
        if format or limit or only or normalize or nfc or skip_bad_rows:
            raise InvalidArgumentError(
                f"{source} is a folder, a model's: these options are for vectors"
            )
        convert_folder(Path(source), target, json)
        return
    wanted = None if only is None else _words(only)
    with progress_bar(f"reading {source}") as progress:
        vectors = load(
            source,
            limit=limit,
            only=wanted,
            strict=not skip_bad_rows,
            encoding=encoding,
            progress=progress,
        )
    missing = [word for word in wanted or () if word not in vectors]
    if missing:
        warn(f"words that are not in {source}: {len(missing):,}, such as '{missing[0]}'")
    if nfc:
        vectors = composed(vectors)
    if normalize:
        vectors = normalised(vectors)
    with progress_bar(f"writing {target}") as progress:
        save(vectors, target, format=format, progress=progress)
    if json:
        print_json({"written": str(target), "rows": len(vectors), "dim": vectors.dim})
    else:
        print(f"{target}: {len(vectors):,} × {vectors.dim}")


def convert_folder(folder: Path, target: Path, json: bool) -> None:
    """A model whose weights are a pytorch_model.bin, as one with safetensors."""
    from malmoi.encode.checkpoint.convert import convert_model

    with progress_bar(f"converting {folder}", "files") as progress:
        count = convert_model(folder, target, progress=progress)
    if json:
        print_json({"written": str(target), "weights": count})
    else:
        print(f"{target}: {count:,} weights")


def _words(path: Path) -> list[str]:
    return [line.decode("utf-8", "surrogateescape") for line in read_words(path)]
