"""The page of integrations: each example runs with the real package and answers as shown."""

import ast
import re
import shlex
from pathlib import Path

import pytest

from malmoi.cli import run
from tests.pages import DOCS, answer

BLOCK = re.compile(r"```(python|sh)\n(.*?)```", re.DOTALL)


def test_examples_answer_as_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names, answers = dict[str, object](), 0
    for language, code in BLOCK.findall((DOCS / "integrations.md").read_text(encoding="utf-8")):
        if language == "sh":
            assert [run(shlex.split(line)[1:]) for line in code.splitlines()] == [0]
            continue
        lines = code.splitlines()
        for statement in ast.parse(code).body:
            shown = answer(statement, names)
            _, _, expected = lines[(statement.end_lineno or 0) - 1].partition("  # ")
            if expected:
                assert shown.startswith(expected.removesuffix("…")), (expected, shown)
                answers += 1
    assert answers >= 12
