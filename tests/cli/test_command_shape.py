"""A command parses its arguments, makes one call into the library and prints the result.

Beside that call it may open what the arguments name (load, open, find, points of), build settings
(classes), check targets, and write or draw the result; it computes nothing itself.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from malmoi import cli

FOLDER = Path(str(cli.__file__)).parent
OWN = ("malmoi.cli", "malmoi.errors", "malmoi.reporting", "malmoi.files.targets")
OPENS = r"(load|open|read|find|parse|make|choose|requested|given|default)(_\w+)?|\w+_points"
CHECKS = r"(check|is)_\w+"
WRITES = r"(save|write|heat_map|histogram|describe|in)(_\w+)?"
BESIDES = re.compile(f"{OPENS}|{CHECKS}|{WRITES}|[A-Z]\\w*|\\w+\\.[a-z]\\w*")
NUMERIC = {"numpy", "malmoi.kernels"}
SEVERAL = {  # commands that make more calls, and why
    "demo_command": "a tour of the library",
    "demo_classify_command": "a tour of classifiers",
    "embed_command": "prints vectors, or writes them to a file",
    "context_command": "occurrences, or with --senses the layers that separate them",
    "cooccur_command": "a table of probabilities from the counts",
    "convert_command": "of vectors, to a folder of spaCy, or of a model folder",
    "inspect_command": "each kind of file has its own description",
    "serve_command": "prepares the models before it prints the address, then runs",
}


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(FOLDER.rglob("*.py")):
        if path.parent.name != "shared" and path.name != "sentences.py":
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def library_names(module: ast.Module) -> set[str]:
    """Names that are imported from malmoi, but not from the command line itself."""
    return {
        alias.asname or alias.name
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("malmoi")
        and not (node.module or "").startswith(OWN)
        for alias in node.names
    }


def calls(function: ast.AST) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id


def work_of(command: ast.FunctionDef, module: ast.Module) -> set[str]:
    """The library functions that a command reaches, without those beside its work."""
    functions = {
        node.name: node
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef) and node is not command
    }
    seen, waiting, names = set[str](), [command], set[str]()
    while waiting:
        for name in calls(waiting.pop()):
            names.add(name)
            if name in functions and name not in seen:
                seen.add(name)
                waiting.append(functions[name])
    work = names & library_names(module)
    return {name for name in work if not BESIDES.fullmatch(name)}


def commands() -> dict[str, set[str]]:
    return {
        node.name: work_of(node, module)
        for _, module in modules()
        for node in module.body
        if isinstance(node, ast.FunctionDef) and node.name.endswith("_command")
    }


def test_there_are_commands() -> None:
    found = commands()
    assert {"index_command", "search_command", "embed_command", "project_command"} <= found.keys()
    assert found["index_command"] == {"update_index"}


@pytest.mark.parametrize("name", sorted(commands()))
def test_a_command_makes_one_call(name: str) -> None:
    work = commands()[name]
    assert len(work) <= 1 or name in SEVERAL, work


def test_commands_compute_nothing() -> None:
    for path, module in modules():
        if path.parent.name == "demo":  # a tour of the library, as a user writes it
            continue
        imported = {
            name
            for node in ast.walk(module)
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        used = {name for name in imported if any(name.startswith(each) for each in NUMERIC)}
        assert not used, path
