"""`malmoi convert IN OUT`: vectors or a model in another format, such as pickled weights."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, Limit, print_json
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.translation.language import translate
from malmoi.errors import InvalidArgumentError
from malmoi.formats.convert import ConvertSettings, convert
from malmoi.formats.numpy_pair import read_words


def convert_command(
    source: Annotated[
        str,
        Parameter(help="A file of vectors, glove-6b-50d, or a pickled, static or ELMo folder."),
    ],
    target: Annotated[Path, Parameter(help="The file to write; its suffix selects the format.")],
    /,
    *,
    format: Annotated[
        str | None,
        Parameter(
            name=["--format", "--to"],
            help="The format, if the suffix does not select it; spacy writes a folder.",
        ),
    ] = None,
    limit: Limit = None,
    only: Annotated[
        Path | None, Parameter(help="Write only the words of this file (one per line).")
    ] = None,
    normalize: Annotated[
        bool, Parameter(negative="", help="Scale every vector to length 1.")
    ] = False,
    nfc: Annotated[
        bool, Parameter(negative="", help="Compose words (NFC), such as NFD Hangul.")
    ] = False,
    skip_bad_rows: Annotated[bool, Parameter(negative="", help="Skip malformed rows.")] = False,
    encoding: Annotated[str, Parameter(help="Encoding of the words in the file.")] = "utf-8",
    json: AsJson = False,
) -> None:
    """Convert vectors to another file format, or a pickled or ELMo model to safetensors.

    The folder of a static encoder becomes one that model2vec and sentence-transformers load.
    """
    if Path(source).is_dir():
        if format or limit or only or normalize or nfc or skip_bad_rows:
            raise InvalidArgumentError(
                f"{source} is the folder of a model: these options are for files of vectors"
            )
        _convert_model(Path(source), target, json)
        return
    settings = ConvertSettings(
        format=format,
        limit=limit,
        only=None if only is None else _read_words(only),
        normalize=normalize,
        nfc=nfc,
        strict=not skip_bad_rows,
        encoding=encoding,
    )
    with TerminalReporter() as reporter:
        if format == "spacy":
            from malmoi.integrations.spacy import convert_to_spacy

            vectors = convert_to_spacy(source, target, settings, reporter=reporter)
        else:
            vectors = convert(source, target, settings, reporter=reporter)
    if json:
        print_json({"written": str(target), "rows": len(vectors), "dim": vectors.dim})
    else:
        print(f"{target}: {len(vectors):,} × {vectors.dim}")


def _convert_model(folder: Path, target: Path, json: bool) -> None:
    """Convert a model whose weights are a pytorch_model.bin, or ELMo's HDF5."""
    from malmoi.encode.checkpoint.convert import convert_model
    from malmoi.encode.checkpoint.static_folder import is_static_folder

    if is_static_folder(folder):
        _convert_static(folder, target, json)
        return
    with TerminalReporter() as reporter:
        progress = reporter.stage(f"converting {folder}", "files")
        count = convert_model(folder, target, progress=progress)
    if json:
        print_json({"written": str(target), "weights": count})
    else:
        print(translate(f"{target}: {count:,} weights"))


def _convert_static(folder: Path, target: Path, json: bool) -> None:
    """Convert a static encoder to one folder for malmoi, model2vec and sentence-transformers."""
    from malmoi.encode.static.saving import convert_static

    rows = convert_static(folder, target)
    if json:
        print_json({"written": str(target), "tokens": rows})
    else:
        print(translate(f"{target}: {rows:,} tokens"))


def _read_words(path: Path) -> list[str]:
    return [line.decode("utf-8", "surrogateescape") for line in read_words(path)]
