"""The page on learning Korean: its examples run, with an encoder that is small."""

import ast
import shlex
from pathlib import Path

import pytest

from malmoi.cli import run
from tests.pages import answer, blocks
from tests.tune.extend.worlds import Bilingual

PAGE = "learning-korean"
FILES = {
    "reviews.txt": "강아지가 나오는 영화\n은행 강도 영화\n" * 20,
    "vocab.txt": "강아지\n##가\n은행\n",
    "pairs.tsv": "".join(f"The dog {n}\t강아지가 {n}\nthe bank {n}\t은행 {n}\n" for n in range(30)),
    "dev.tsv": "sentence1\tsentence2\tscore\n은행\tbank\t5\n강아지\tdog\t4\n은행\t강아지\t0\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malmoi.tune.extend.extension.load_encoder", lambda name: Bilingual())
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")


def test_python_runs_and_answers_as_shown() -> None:
    code, names = "\n".join(blocks(PAGE, "python")), dict[str, object]()
    lines = code.splitlines()
    for statement in ast.parse(code).body:
        shown = answer(statement, names)
        _, _, expected = lines[(statement.end_lineno or 0) - 1].partition("  # ")
        assert shown.startswith(expected.partition("…")[0]), expected


def test_commands_run(capsys: pytest.CaptureFixture[str]) -> None:
    commands = [line for block in blocks(PAGE, "sh") for line in block.splitlines()]
    commands = [command for command in commands if command.startswith("malmoi tune")]
    assert len(commands) >= 4
    for command in commands:
        assert run(shlex.split(command)[1:]) == 0, (command, capsys.readouterr().err)
