"""The package as a tree of docstrings; `python -m tests.source_tree` updates CONTRIBUTING."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "malmoi"
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- tree -->\n```\n", "```\n<!-- end of tree -->"


def modules() -> dict[str, Path]:
    """The path of each module of the package, by its dotted name."""
    paths = sorted(SOURCE.rglob("*.py"))
    return {".".join(path.relative_to(SOURCE.parent).with_suffix("").parts): path for path in paths}


def summary(path: Path) -> str:
    """The first sentence of a module's docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].rstrip(".").replace("\\\\", "\\")


def tree(folder: Path = SOURCE, depth: int = 0) -> Iterator[str]:
    """One line per module and package, modules first."""
    indent = "  " * depth
    for path in sorted(folder.glob("*.py")):
        if path.name not in ("__init__.py", "__main__.py"):
            yield f"{indent}{path.name:<{26 - 2 * depth}} {summary(path)}"
    for package in sorted(path for path in folder.iterdir() if (path / "__init__.py").exists()):
        yield f"{indent}{package.name + '/':<{26 - 2 * depth}} {summary(package / '__init__.py')}"
        yield from tree(package, depth + 1)


def page_with_tree(page: str) -> str:
    """CONTRIBUTING with the tree as it is now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "".join(f"{line}\n" for line in tree()) + END + after


if __name__ == "__main__":
    PAGE.write_text(page_with_tree(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
