"""What docs/word2vec.md and docs/fasttext.md show is executed, with the files they show."""

import ast
import contextlib
import io
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest

from malmoi.cli import run

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"word2vec": ["fishing.txt"], "fasttext": ["fishing.txt", "korean.txt"]}

every_page = pytest.mark.parametrize("page", list(PAGES))


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def prepare(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in zip(PAGES[page], blocks(page, "text"), strict=True):
        (folder / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MALMOI_CACHE", str(folder / "cache"))


def answer(statement: ast.stmt, names: dict[str, object]) -> str:
    """What a statement prints, or else what it is."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), "page", "eval"), names)
            return printed.getvalue().rstrip() or repr(value)
        exec(compile(ast.Module([statement], []), "page", "exec"), names)
    return printed.getvalue().rstrip()


@every_page
def test_python_answers_what_the_page_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(page, tmp_path, monkeypatch)
    code = "\n".join(blocks(page, "python"))
    lines, names, answers = code.splitlines(), dict[str, object](), 0
    for statement in ast.parse(code).body:
        assert statement.end_lineno is not None
        found = answer(statement, names)
        _, _, expected = lines[statement.end_lineno - 1].partition("  # ")
        if expected:
            assert found == expected
            answers += 1
    assert answers >= 6


@every_page
def test_commands_do_what_the_page_says(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    prepare(page, tmp_path, monkeypatch)
    commands = [line for block in blocks(page, "sh") for line in block.splitlines()]
    assert len(commands) == 4
    for command in commands:
        assert run(shlex.split(command)[1:]) == 0, command
        assert capsys.readouterr().out


@every_page
def test_pictures_are_there_and_can_be_read(page: str) -> None:
    (name,) = re.findall(r"!\[.*\]\((.*\.svg)\)", (DOCS / f"{page}.md").read_text("utf-8"))
    picture = ElementTree.parse(DOCS / name).getroot()
    assert picture.tag.endswith("svg")
    assert "prefers-color-scheme: dark" in (DOCS / name).read_text("utf-8")
