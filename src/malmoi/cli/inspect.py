"""`malmoi inspect FILE|FOLDER`: what it contains, what is wrong with it, how to fix it.

A folder is that of a model or of a search index.
"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from malmoi.cli.shared.output import AsJson, print_json
from malmoi.cli.shared.terminal_reporter import TerminalReporter
from malmoi.cli.shared.text_width import fitted, wrapped
from malmoi.files.source import InputFile
from malmoi.files.tensor_file import describe_tensor_file
from malmoi.files.tensors import open_safetensors
from malmoi.formats.inspection import Finding, Inspection, inspect
from malmoi.search.storage.address import is_postgres

ANY_WORD = "any word, by its characters"
MAX_EXAMPLE_COLUMNS = 140  # two lines

if TYPE_CHECKING:
    from malmoi.encode.inspection import ModelInspection


def inspect_command(
    file: Annotated[
        str,
        Parameter(help="A file of vectors, any file of malmoi, a model or an index."),
    ],
    /,
    *,
    encoding: Annotated[str, Parameter(help="Encoding of the words in the file.")] = "utf-8",
    json: AsJson = False,
) -> None:
    """Describe a file, a model or an index, and verify its checksums."""
    if is_postgres(file) or (Path(file).is_dir() and is_index(Path(file))):
        inspect_index(file, json)
        return
    if holds_no_vectors(Path(file)):
        inspect_tensors(Path(file), json)
        return
    inspection: Inspection | ModelInspection
    if is_model(file):
        from malmoi.encode.inspection import inspect_model

        inspection = inspect_model(file)
        facts = model_facts(inspection)
    else:
        with TerminalReporter() as reporter:
            inspection = inspect(file, encoding=encoding, reporter=reporter)
        facts = vector_facts(inspection)
    if json:
        print_json(asdict(inspection))
    else:
        print_inspection(facts, inspection.findings)


def inspect_index(path: str, json: bool) -> None:
    """The facts of an index."""
    from malmoi.search.build import open_index

    facts = open_index(path).describe()
    if json:
        print_json(facts)
        return
    for name, value in facts.items():
        shown = ", ".join(value) or "none" if isinstance(value, list) else value
        counted = f"{shown:,}" if isinstance(shown, int) else shown
        print(wrapped(f"{name:<11} {counted}", 12).strip())


def holds_no_vectors(path: Path) -> bool:
    """Whether a tensor file holds something else: a corpus, counts, a language model."""
    if not path.is_file() or (source := InputFile(path)).head[8:9] != b"{":
        return False
    return open_safetensors(source).metadata.get("kind", "vectors") != "vectors"


def inspect_tensors(path: Path, json: bool) -> None:
    """Print the facts of a tensor file, all of which is verified."""
    facts = describe_tensor_file(InputFile(path))
    if open_safetensors(InputFile(path)).metadata.get("kind") == "classifier":
        from malmoi.classify.files import load_classifier

        facts = load_classifier(path).describe() | facts
    if json:
        print_json(facts)
        return
    for name, value in facts.items():
        print(wrapped(f"{name:<11} {value}", 12).strip())


def is_index(path: Path) -> bool:
    """Whether a folder is a search index."""
    from malmoi.search.storage import folder

    return folder.is_index(path)


def is_model(name: str) -> bool:
    """Whether this is the folder or the name of a model; all else is a file of vectors.

    A path in an existing folder is a missing file, although it looks like a name on the hub.
    """
    from malmoi.encode.checkpoint.locate import is_encoder

    path = Path(name)
    is_missing_file = not path.exists() and len(path.parts) > 1 and path.parent.is_dir()
    return is_encoder(name) and not is_missing_file


def vector_facts(inspection: Inspection) -> dict[str, str]:
    """The facts of a file of vectors."""
    return {
        "format": inspection.format + (", gzipped" if inspection.zipped else ""),
        "rows": f"{inspection.rows:,}",
        "dim": f"{inspection.dim:,}",
        "numbers": inspection.numbers,
        "size": f"{inspection.bytes:,} bytes" if inspection.bytes else "in an installed package",
        "counts": "yes" if inspection.counts else "no",
        "normalised": "yes" if inspection.normalised else "no",
        "subwords": inspection.subwords,
        "checksums": inspection.checksums,
    }


def model_facts(inspection: "ModelInspection") -> dict[str, str]:
    """The facts of a model."""
    layers = f"{inspection.layers} of {inspection.dim} dimensions"
    layers += f", {inspection.heads} heads" if inspection.heads else ""
    tokens = f"{inspection.vocab_size:,} tokens" if inspection.vocab_size else ANY_WORD
    return {
        "family": inspection.family,
        "layers": layers if inspection.layers else f"none, vectors of {inspection.dim} dimensions",
        "vocabulary": tokens,
        "longest": f"{inspection.max_length:,} tokens per text" if inspection.max_length else "any",
        "numbers": inspection.dtypes or "unknown",
        "arithmetic": f"{inspection.arithmetic} on this processor",
        "size": f"{inspection.bytes:,} bytes",
        "tokenizer": inspection.tokenizer or "unknown",
        "pooling": inspection.pooling,
        "prompts": ", ".join(inspection.prompts) or "none",
    }


def print_inspection(facts: dict[str, str], findings: tuple[Finding, ...]) -> None:
    """Print the facts, then the problems."""
    for name, value in facts.items():
        print(f"{name:<11} {value}")
    print()
    if not findings:
        print("no problems")
    for finding in findings:
        print_finding(finding)


def print_finding(finding: Finding) -> None:
    """Print a problem, an example and the advice."""
    has_count = finding.example and finding.count
    print(wrapped(f"{finding.problem}: {finding.count:,}" if has_count else finding.problem))
    if finding.example:
        print(wrapped(f"such as {fitted(finding.example, MAX_EXAMPLE_COLUMNS).rstrip()}", 4))
    print(wrapped(finding.advice, 4))
