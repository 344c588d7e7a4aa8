"""Pages that no other test executes: what they show is run in a folder with the files they name."""

import ast
import re
import shlex
from pathlib import Path

import pytest
from gensim.models import Word2Vec

from malmoi.cli import run
from tests.pages import answer, blocks

MANY = [f"the king of word{i} and word{i * 7 % 120} beside word{i * 11 % 120}" for i in range(120)]
FILES = {  # which a page shows
    "counts": "corpus.txt",
    "text": "reviews.csv",
    "tuning": "pairs.csv",
    "static-students": "sentences.txt",
    "domain-adaptation": "corpus.txt",
    "layers": "messages.tsv",
    "scale": "part-0.txt",
}
SURE = re.compile(r"  # (\(?'.*|\d[^:]*)")  # a comment that is an answer, perhaps with … at its end
PAGES = [
    "files",
    "asking",
    "values",
    "text",
    "counts",
    "language-models",
    "notebooks",
    "leaving-gensim",
    "tuning",
    "static-students",
    "domain-adaptation",
    "layers",
    "elmo-pretraining",
    "scale",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def prepare(page: str) -> None:
    """The file that a page shows, or else some text of one's own."""
    if page in FILES:
        (content,) = blocks(page, "text")
        Path(FILES[page]).write_text(content, encoding="utf-8")
    else:
        Path("corpus.txt").write_text("\n".join(MANY * 5))
    if page == "leaving-gensim":
        sentences = [line.split() for line in MANY * 5]
        Word2Vec(sentences, vector_size=10, min_count=1).save("old.model", sep_limit=0)


def execute(page: str) -> dict[str, object]:
    """Run a page's Python, whose answers must be those in its comments."""
    code, names = "\n".join(blocks(page, "python")), dict[str, object]()
    lines = code.splitlines()
    for statement in ast.parse(code).body:
        assert statement.end_lineno is not None
        found = answer(statement, names)
        if said := SURE.search(lines[statement.end_lineno - 1]):
            assert found.startswith(said[1].split("…")[0]), lines[statement.end_lineno - 1]
    return names


@pytest.mark.parametrize("page", PAGES)
def test_python_runs_and_answers_as_shown(page: str) -> None:
    prepare(page)
    assert execute(page)


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ("values", "notebooks")])
def test_commands_run(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    prepare(page)
    if page == "files":  # its commands take what its Python wrote
        execute(page)
    commands = [line for block in blocks(page, "sh") for line in block.splitlines()]
    assert len(commands) >= 2
    for command in commands:
        if "--resume" not in command:  # that is for what was interrupted
            assert run(shlex.split(command)[1:]) == 0, (command, capsys.readouterr().err)


def test_counts_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    prepare("counts")
    assert run(shlex.split(blocks("counts", "sh")[0])[1:]) == 0
    assert capsys.readouterr().out == blocks("counts", "output")[0]


def test_notebooks_shows_what_a_terminal_prints() -> None:
    assert f"{execute('notebooks')['near']}\n" == blocks("notebooks", "output")[0]
