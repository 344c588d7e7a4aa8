"""`malmoi inspect FILE|FOLDER`: what is in it, what is wrong with it, what to do about it.

A folder is a model's, or an index of texts.
"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.progress import progress_bar
from malmoi.cli.shared.text_width import fitted, wrapped
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import tensor_facts
from malmoi.files.tensors import open_tensor_file
from malmoi.formats.inspection import Finding, Inspection, inspect

EXAMPLE = 140  # columns: two lines

if TYPE_CHECKING:
    from malmoi.encode.inspection import ModelInspection


def inspect_command(
    file: Annotated[
        str,
        Parameter(help="A file of vectors or of malmoi, a model's folder or name, or an index."),
    ],
    /,
    *,
    encoding: Annotated[str, Parameter(help="Of the words in the file.")] = "utf-8",
    json: AsJson = False,
) -> None:
    """Read a file to its end and describe it, or a model's folder, or an index."""
    if Path(file).is_dir() and is_index(Path(file)):
        inspect_index(Path(file), json)
        return
    if holds_no_vectors(Path(file)):
        inspect_tensors(Path(file), json)
        return
    found: Inspection | ModelInspection
    if is_model(file):
        from malmoi.encode.inspection import inspect_model

        found = inspect_model(file)
        facts = model_facts(found)
    else:
        with progress_bar(f"reading {file}") as progress:
            found = inspect(file, encoding=encoding, progress=progress)
        facts = vector_facts(found)
    if json:
        print_json(asdict(found))
    else:
        print_inspection(facts, found.findings)


def inspect_index(path: Path, json: bool) -> None:
    """The facts of an index."""
    from malmoi.search.build import open_index

    facts = open_index(path).describe()
    if json:
        print_json(facts)
        return
    for name, value in facts.items():
        shown = ", ".join(value) or "none" if isinstance(value, list) else value
        print(f"{name:<11} {shown:,}" if isinstance(shown, int) else f"{name:<11} {shown}")


def holds_no_vectors(path: Path) -> bool:
    """Whether a file is one of ours, but of another kind: a corpus, counts, a language model."""
    if not path.is_file() or (source := InputFile(path)).head[8:9] != b"{":
        return False
    return open_tensor_file(source).metadata.get("kind", "vectors") != "vectors"


def inspect_tensors(path: Path, json: bool) -> None:
    """The facts of a file of arrays, all of which is verified."""
    facts = tensor_facts(InputFile(path))
    if json:
        print_json(facts)
        return
    for name, value in facts.items():
        print(wrapped(f"{name:<11} {value}", 12).strip())


def is_index(path: Path) -> bool:
    """Whether a folder is an index of texts."""
    from malmoi.search.storage import folder

    return folder.is_index(path)


def is_model(name: str) -> bool:
    """Whether this is a folder or the name of a model; all else is a file of vectors.

    What is missing in a folder that is there is a file, though it looks like a name on the hub.
    """
    from malmoi.encode.checkpoint.locate import is_encoder

    path = Path(name)
    missing = not path.exists() and len(path.parts) > 1 and path.parent.is_dir()
    return is_encoder(name) and not missing


def vector_facts(found: Inspection) -> dict[str, str]:
    """What a file of vectors is."""
    return {
        "format": found.format + (", gzipped" if found.zipped else ""),
        "rows": f"{found.rows:,}",
        "dim": f"{found.dim:,}",
        "numbers": found.numbers,
        "size": f"{found.bytes:,} bytes" if found.bytes else "in an installed package",
        "counts": "yes" if found.counts else "no",
        "normalised": "yes" if found.normalised else "no",
        "subwords": found.subwords,
        "checksums": found.checksums,
    }


def model_facts(found: "ModelInspection") -> dict[str, str]:
    """What a model is."""
    return {
        "family": found.family,
        "layers": f"{found.layers} of {found.dim} numbers, {found.heads} heads",
        "vocabulary": f"{found.vocabulary:,} pieces",
        "longest": f"{found.longest:,} pieces a text",
        "numbers": found.numbers or "unknown",
        "arithmetic": f"{found.arithmetic} on this processor",
        "size": f"{found.bytes:,} bytes",
        "tokenizer": found.tokenizer or "unknown",
        "pooling": found.pooling,
        "prompts": ", ".join(found.prompts) or "none",
    }


def print_inspection(facts: dict[str, str], findings: tuple[Finding, ...]) -> None:
    """The facts, then the findings."""
    for name, value in facts.items():
        print(f"{name:<11} {value}")
    print()
    if not findings:
        print("nothing wrong")
    for finding in findings:
        print_finding(finding)


def print_finding(finding: Finding) -> None:
    """What, an example, and the advice."""
    counted = finding.example and finding.count
    print(wrapped(f"{finding.problem}: {finding.count:,}" if counted else finding.problem))
    if finding.example:
        print(wrapped(f"such as {fitted(finding.example, EXAMPLE).rstrip()}", 4))
    print(wrapped(finding.advice, 4))
