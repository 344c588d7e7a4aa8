"""`malmoi inspect FILE`: what is in a file, what is wrong with it, what to do about it.

A folder is an index of texts.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from malmoi.cli.answer import AsJson, Model, print_json
from malmoi.cli.progress import bar
from malmoi.formats.inspection import Finding, Inspection, inspect


def inspect_command(
    file: Model,
    /,
    *,
    encoding: Annotated[str, Parameter(help="Of the words in the file.")] = "utf-8",
    json: AsJson = False,
) -> None:
    """Read a file to its end and describe it, or an index."""
    if Path(file).is_dir():
        inspect_index(Path(file), json)
        return
    with bar(f"reading {file}") as progress:
        found = inspect(file, encoding=encoding, progress=progress)
    if json:
        print_json(asdict(found))
    else:
        print_inspection(found)


def inspect_index(path: Path, json: bool) -> None:
    """The facts of an index."""
    from malmoi.search.facts import index_facts

    facts = index_facts(path)
    if json:
        print_json(facts)
        return
    for name, value in facts.items():
        shown = ", ".join(value) or "none" if isinstance(value, list) else value
        print(f"{name:<11} {shown:,}" if isinstance(shown, int) else f"{name:<11} {shown}")


def print_inspection(found: Inspection) -> None:
    """The facts, then the findings."""
    facts = {
        "format": found.format + (", gzipped" if found.zipped else ""),
        "rows": f"{found.rows:,}",
        "dim": f"{found.dim:,}",
        "numbers": found.numbers,
        "size": f"{found.bytes:,} bytes" if found.bytes else "in an installed package",
        "counts": "yes" if found.counts else "no",
        "normalised": "yes" if found.normalised else "no",
        "subwords": found.subwords,
    }
    for name, value in facts.items():
        print(f"{name:<11} {value}")
    print()
    if not found.findings:
        print("nothing wrong")
    for finding in found.findings:
        print_finding(finding)


def print_finding(finding: Finding) -> None:
    """What, an example, and the advice."""
    print(f"{finding.problem}: {finding.count:,}" if finding.example else finding.problem)
    if finding.example:
        print(f"    such as {finding.example}")
    print(f"    {finding.advice}")
