"""Examples of the API reference: lines of the pages, which tests execute."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
MOST_LINES = 8


@dataclass(frozen=True)
class Example:
    """Some lines of code, and the page that they are from; none for those of a docstring."""

    code: str
    page: str = ""


@cache
def examples() -> dict[str, Example]:
    """The shortest example of each name that a page uses as `mm.name`."""
    found = dict[str, Example]()
    for page in sorted(DOCS.glob("*.md")):
        blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
        for name, code in _uses("\n".join(blocks)):
            if name not in found or len(code) < len(found[name].code):
                found[name] = Example(code, page.stem)
    return found


def _uses(program: str) -> Iterator[tuple[str, str]]:
    """The names that a program uses, each with the lines that show how."""
    lines, defined = program.splitlines(), dict[str, str]()
    for statement in ast.parse(program).body:
        code = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
        before = [defined[name] for name in _read(statement) if name in defined]
        shown = "\n".join([*dict.fromkeys(before), code])
        for name in re.findall(r"\bmm\.(\w+)", code):
            yield name, shown if shown.count("\n") < MOST_LINES else code
        for name in _assigned(statement):
            defined[name] = code


def _read(statement: ast.stmt) -> list[str]:
    nodes = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return [node.id for node in nodes if isinstance(node.ctx, ast.Load)]


def _assigned(statement: ast.stmt) -> list[str]:
    """The names that an assignment defines for the statements after it."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    nodes = [node for target in targets for node in ast.walk(target)]
    return [node.id for node in nodes if isinstance(node, ast.Name)]
