"""The notebook of the documentation runs; values are tables in it, and progress is one output."""

import re
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from handbook.notebooks import code_cells, data_of, execute, without_large_outputs
from tests.notebook import NOTEBOOK, read
from tests.pages import DOCS

pytestmark = pytest.mark.xdist_group("notebook")  # one worker makes what all of them read

MAX_BYTES = 500_000
PROGRESS = """
import time
import malmoi as mm
progress = mm.ProgressReporter().stage("<training>", "words")
for done in range(0, {stop}, 10):
    progress(done, 1000)
    time.sleep({pause})
"""


@pytest.fixture(scope="module")
def executed() -> Any:
    return without_large_outputs(execute(read(), DOCS))


def tables(notebook: Any) -> list[str]:
    """What the cells show as tables."""
    return [
        data["text/html"]
        for cell in code_cells(notebook)
        for data in data_of(cell)
        if "<table" in data.get("text/html", "")
    ]


def test_the_notebook_runs_and_shows_tables(executed: Any) -> None:
    assert len(tables(executed)) >= 8
    for cell in code_cells(executed):
        assert not [output for output in cell.outputs if output.output_type in ("error", "stream")]


def test_the_stored_outputs_are_those_of_its_cells(executed: Any) -> None:
    """Of the same kinds and with the same columns; numbers differ between processors."""

    def header(table: str) -> list[str]:
        return re.findall(r"<th .*?>(.*?)</th>", table)

    stored = read()
    assert [header(table) for table in tables(stored)] == [
        header(table) for table in tables(executed)
    ]
    for cell in code_cells(stored):
        assert cell.outputs, cell.source


def test_the_notebook_is_small_and_names_no_folder_of_this_machine() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert len(text.encode()) < MAX_BYTES
    assert not re.search(r"/(work|home|root|tmp)/", text)


def test_training_shows_one_bar_that_ends_full(executed: Any) -> None:
    (cell,) = [cell for cell in code_cells(executed) if "ProgressReporter" in cell.source]
    shown = [data.get("text/html", "") for data in data_of(cell)]
    bars = [html for html in shown if "<progress" in html]
    assert 1 <= len(bars) <= 3
    assert all('value="1.000"' in bar for bar in bars)


def test_a_bar_is_updated_in_place_and_stops_with_its_cell(tmp_path: Path) -> None:
    sources = {
        "whole": PROGRESS.format(stop=1010, pause=0.008),
        "short": PROGRESS.format(stop=1010, pause=0),
        "interrupted": PROGRESS.format(stop=600, pause=0.02) + "raise KeyboardInterrupt",
        "left": PROGRESS.format(stop=600, pause=0.02),
    }
    cells = [new_code_cell(source, metadata={"tags": ["raises-exception"]}) for source in
             sources.values()]  # fmt: skip
    notebook = execute(new_notebook(cells=cells), tmp_path)
    shown = dict(zip(sources, map(data_of, notebook.cells), strict=True))
    (whole,) = shown["whole"]
    assert re.search(r"<training> ━{20} 100%  in 0\.\d s|<training> ━{20} 100%  in 1", str(whole))
    assert "&lt;training&gt;" in whole["text/html"]
    assert shown["short"] == []
    for name in ("interrupted", "left"):
        (bar,) = shown[name]
        assert re.search(r" 5\d%  stopped$", bar["text/plain"])
        assert "left" not in bar["text/html"]
