"""Docstrings as values: summary, description, and the sections Args, Returns, Raises, Example."""

import ast
import inspect
import re
import textwrap
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

SECTION = re.compile(r"^(Args|Returns|Yields|Raises|Example):\n", re.MULTILINE)
ITEM = re.compile(r"^\*{0,2}(\w+): ", re.MULTILINE)


@dataclass(frozen=True)
class Docstring:
    """What a docstring says, by section; the texts are Markdown."""

    text: str
    args: dict[str, str] = field(default_factory=dict)
    returns: str = ""
    raises: dict[str, str] = field(default_factory=dict)
    example: str = ""


def docstring_of(thing: object) -> Docstring:
    """The docstring of a function or a class."""
    text, *rest = SECTION.split(inspect.getdoc(thing) or "")
    sections = {
        title: textwrap.dedent(content).strip()
        for title, content in zip(rest[::2], rest[1::2], strict=True)
    }
    return Docstring(
        text.strip(),
        _items(sections.get("Args", "")),
        _joined(sections.get("Returns") or sections.get("Yields", "")),
        _items(sections.get("Raises", "")),
        sections.get("Example", ""),
    )


def described_fields(kind: type) -> dict[str, str]:
    """What the string literals after the fields of a dataclass say, those of its bases too."""
    described = dict[str, str]()
    for base in reversed(kind.__mro__):
        if not base.__module__.startswith("malmoi."):
            continue
        tree = ast.parse(Path(inspect.getfile(base)).read_text(encoding="utf-8"))
        (body,) = [
            node.body
            for node in tree.body
            if isinstance(node, ast.ClassDef) and node.name == base.__name__
        ]
        for one, text in pairwise(body):
            if isinstance(one, ast.AnnAssign) and isinstance(text, ast.Expr):
                described[ast.unparse(one.target)] = _joined(ast.literal_eval(text.value))
    return described


def _items(section: str) -> dict[str, str]:
    """Entries such as `path: The folder.`, by name."""
    _, *rest = ITEM.split(section)
    return {name: _joined(text) for name, text in zip(rest[::2], rest[1::2], strict=True)}


def _joined(text: str) -> str:
    """Lines of a paragraph as one."""
    return re.sub(r"\s*\n\s*", " ", text).strip()
