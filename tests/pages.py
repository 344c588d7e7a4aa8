"""Pages of the documentation, as tests execute them."""

import ast
import contextlib
import io
import re
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a language on a page."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and the site make it; Hangul stays."""
    return re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))


def assert_prints(line: str, printed: str) -> None:
    """What a command printed holds each answer of its comment: `malmoi … # japan, 0.93…`."""
    at = 0
    for expected in filter(None, line.partition("  # ")[2].split(", ")):
        at = printed.find(expected.removesuffix("…"), at)
        assert at >= 0, (line, expected, printed)


def assert_answers(page: str, changed: Callable[[str], str] = str) -> int:
    """Execute the page's Python: each answer is what the comment says; how many there were."""
    code = changed("\n".join(blocks(page, "python")))
    lines, names, answers = code.splitlines(), dict[str, object](), 0
    for statement in ast.parse(code).body:
        assert statement.end_lineno is not None
        found = answer(statement, names)
        _, _, expected = lines[statement.end_lineno - 1].partition("  # ")
        if expected:
            assert found == expected
            answers += 1
    return answers


def answer(statement: ast.stmt, names: dict[str, object]) -> str:
    """What a statement prints, or else what it is."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), "page", "eval"), names)
            return printed.getvalue().rstrip() or repr(value)
        exec(compile(ast.Module([statement], []), "page", "exec"), names)
    return printed.getvalue().rstrip()
