"""The page on classifiers: its Python runs."""

import ast
from pathlib import Path

import pytest

from tests.pages import answer, blocks


@pytest.mark.filterwarnings("ignore::malmoi.MalmoiWarning")  # of columns that were detected
def test_the_python_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = [
        answer(statement, names)
        for statement in ast.parse("\n".join(blocks("classify", "python"))).body
    ]
    assert "['sport', 'food']" in printed
    assert "glove-6b-50d, 50 dimensions" in printed
    assert any("weight" in each for each in printed)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("topics.classifier", "both.classifier", "topics.cnn", "topics.tuned"),
    }
